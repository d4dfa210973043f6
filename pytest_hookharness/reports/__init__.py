"""Reports on outcomes. Text of hooks, agents and scenarios is hostile until `safe_text.plain` escapes it."""
