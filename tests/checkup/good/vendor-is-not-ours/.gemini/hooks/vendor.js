#!/usr/bin/env node
// Code of others, below vendor/, is not edited.
const path = require("path");

let input = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (part) => (input += part));
process.stdin.on("end", () => {
  const { cwd, tool_input: told } = JSON.parse(input);
  const file = path.resolve(cwd, told?.file_path ?? "");
  const inside = path.relative(path.join(process.env.GEMINI_PROJECT_DIR, "vendor"), file);
  if (inside && !inside.startsWith("..") && !path.isAbsolute(inside)) {
    const reason = `vendor/${inside} is a copy of another project. Put the change into patches/ and run ./vendor.sh.`;
    console.log(JSON.stringify({ decision: "deny", reason }));
  }
});
