#!/usr/bin/env node
// Wants to see a number of files from the agent.
const fs = require('fs');

const numbers = fs
  .readdirSync('.')
  .map((name) => /^touched-(\d+)\.txt$/.exec(name))
  .filter(Boolean)
  .map((match) => Number(match[1]));
const highest = Math.max(0, ...numbers);

if (highest >= 15) {
  process.exit(0);
}
console.log(JSON.stringify({ decision: 'block', reason: `Only ${highest} examples so far, write more.` }));
