#!/bin/sh
# BeforeAgent hook: prints a house rule, as the documents of another host have it.
echo 'Indent with tabs.'
