#!/usr/bin/env node
// Keeps the agent from writing .env.
import fs from "node:fs";
import path from "node:path";

const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const writes = ["WriteFile", "EditFile"].includes(asked.tool_name);
if (writes && path.basename(asked.tool_input?.file_path ?? "") === ".env") {
  console.error(".env holds secrets. Use .env.example for the names of the variables.");
  process.exit(2);
}
