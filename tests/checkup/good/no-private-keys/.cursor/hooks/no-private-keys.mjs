#!/usr/bin/env node
// Private keys are not read into a conversation.
import fs from "node:fs";
import path from "node:path";

const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const name = path.basename(asked.file_path ?? "");

const answer = /\.(pem|p12|key)$/.test(name)
  ? {
      permission: "deny",
      user_message: `The agent wanted to read ${name}.`,
      agent_message: `${name} is a private key. Work with the public part, ${name.replace(/\.\w+$/, ".pub")}.`,
    }
  : { permission: "allow" };
console.log(JSON.stringify(answer));
