#!/usr/bin/env node
// Lays out the JSON file that was just written. What cannot be parsed is left to its author.
import fs from "node:fs";
import path from "node:path";

const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const file = asked.tool_input?.file_path ?? "";
const inside = path.relative(process.env.CLAUDE_PROJECT_DIR, file);

if (file.endsWith(".json") && !inside.startsWith("..") && fs.existsSync(file)) {
  const before = fs.readFileSync(file, "utf8");
  let after = before;
  try {
    after = JSON.stringify(JSON.parse(before), null, 2) + "\n";
  } catch {
    // An edit may be half of the work.
  }
  if (after !== before) {
    fs.writeFileSync(file, after);
    const additionalContext = `${inside} was laid out anew (two spaces, final newline); its values are the same.`;
    console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext } }));
  }
}
