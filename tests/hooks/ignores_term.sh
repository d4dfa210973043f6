#!/bin/bash
# Never ends and ignores TERM, as its child does.
trap '' TERM
while :; do sleep "$TOY_SECONDS"; done
