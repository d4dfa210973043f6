#!/bin/bash
# Reads one line, then repeats it.
read -r line
echo "$line"
