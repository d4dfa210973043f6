#!/usr/bin/env node
// Keeps the attempts with their times and gives up at twenty.
const fs = require('fs');
const file = `${process.env.TMPDIR || '/tmp'}/attempts.json`;

const attempts = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : [];
if (attempts.length >= 20) {
  process.exit(0);
}
attempts.push({ at: new Date().toISOString(), pid: process.pid });
fs.writeFileSync(file, JSON.stringify(attempts, null, 2));
console.log(JSON.stringify({ decision: 'block', reason: 'npm audit reports a vulnerability.' }));
