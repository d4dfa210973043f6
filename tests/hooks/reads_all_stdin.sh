#!/bin/bash
# Counts its input up to end of file.
exec wc -c
