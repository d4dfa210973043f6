#!/usr/bin/env node
// Sends the agent back, once, if a `debugger` statement is left in src/.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");

async function main() {
  let input = "";
  for await (const part of process.stdin) input += part;
  if (JSON.parse(input).stop_hook_active) return;

  const left = [];
  for (const name of fs.readdirSync(path.join(root, "src")).sort()) {
    if (!name.endsWith(".js")) continue;
    const lines = fs.readFileSync(path.join(root, "src", name), "utf8").split("\n");
    lines.forEach((line, index) => {
      if (/^\s*debugger\s*;?\s*$/.test(line)) left.push(`src/${name}:${index + 1}`);
    });
  }
  if (left.length) {
    const reason = `A debugger statement is left at ${left.slice(0, 10).join(", ")}. Take it out, then stop.`;
    console.log(JSON.stringify({ decision: "block", reason }));
  }
}

await main();
