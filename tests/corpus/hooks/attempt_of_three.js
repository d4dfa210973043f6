#!/usr/bin/env node
// At most three attempts.
const fs = require('fs');
const MAX = 3;
const file = '.attempt';

const attempt = (fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0) + 1;
fs.writeFileSync(file, String(attempt));
console.error(`Attempt ${attempt} of ${MAX}: visual regression tests fail.`);
process.exit(2);
