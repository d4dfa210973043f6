#!/bin/bash
# Writes 100 MB.
head -c 100000000 /dev/zero
