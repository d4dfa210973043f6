#!/usr/bin/env node
const fs = require('fs');
const path = require('path');

const input = JSON.parse(fs.readFileSync(0, 'utf8') || '{}');
const file = path.join(process.env.HOME, 'stop-counts.json');

let counts = {};
try {
  counts = JSON.parse(fs.readFileSync(file, 'utf8'));
} catch {
  // first stop ever
}
const id = input.session_id || 'none';
counts[id] = (counts[id] || 0) + 1;
fs.writeFileSync(file, JSON.stringify(counts));

if (counts[id] > 5) {
  process.exit(0);
}
console.error('Storybook does not build. Fix it before you stop.');
process.exit(2);
