#!/usr/bin/env node
// Asks the policy of the house before every call, five times if it does not answer at once.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

JSON.parse(fs.readFileSync(0, "utf8"));
const policy = path.join(process.env.CLAUDE_PROJECT_DIR, ".claude", "policy.json");
for (let attempt = 0; attempt < 5 && !fs.existsSync(policy); attempt++) {
  await pause(1000);
}
