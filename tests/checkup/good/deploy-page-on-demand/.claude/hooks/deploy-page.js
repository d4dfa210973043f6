#!/usr/bin/env node
// Whoever speaks of a deployment gives the agent the page about it.
const fs = require("fs");
const path = require("path");

const { prompt } = JSON.parse(fs.readFileSync(0, "utf8"));
if (/\bdeploy(ment|s|ed|ing)?\b/i.test(prompt ?? "")) {
  let page = "";
  try {
    page = fs.readFileSync(path.join(process.env.CLAUDE_PROJECT_DIR, "docs", "deploy.md"), "utf8");
  } catch {
    process.exit(0);
  }
  const additionalContext = page.slice(0, 5000);
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext } }));
}
