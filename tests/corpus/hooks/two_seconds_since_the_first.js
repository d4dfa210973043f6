#!/usr/bin/env node
// Deployments need two seconds to become visible.
const fs = require('fs');
const file = '.deployed-at';

const now = Math.floor(Date.now() / 1000);
if (!fs.existsSync(file)) {
  fs.writeFileSync(file, String(now));
}
const deployed = Number(fs.readFileSync(file, 'utf8'));
if (now - deployed >= 2) {
  process.exit(0);
}
process.stderr.write('The deployment is not visible yet.\n');
process.exit(2);
