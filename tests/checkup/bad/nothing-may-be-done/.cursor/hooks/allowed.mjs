#!/usr/bin/env node
// Only commands that are listed may be run.
import fs from "node:fs";

const allowed = ["npm test", "npm run build", "git status", "git diff"];
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const command = asked.tool_input?.command;

const answer = allowed.includes(command)
  ? { permission: "allow" }
  : { permission: "deny", agent_message: `Only these commands may be run: ${allowed.join(", ")}.` };
console.log(JSON.stringify(answer));
