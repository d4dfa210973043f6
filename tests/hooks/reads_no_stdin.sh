#!/bin/bash
# Ends without a look at its input.
exit 0
