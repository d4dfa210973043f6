#!/usr/bin/env node
// Asks less and less often: the distances are Fibonacci numbers, and a big one is the end of it.
const fs = require('fs');
const path = '.fib';

let a = 1;
let b = 1;
if (fs.existsSync(path)) {
  [a, b] = fs.readFileSync(path, 'utf8').trim().split(' ').map(Number);
}
if (b > 1000) {
  process.exit(0);
}
fs.writeFileSync(path, `${b} ${a + b}\n`);
console.error(`The API documentation differs from the code (${b}).`);
process.exit(2);
