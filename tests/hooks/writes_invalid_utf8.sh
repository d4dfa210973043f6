#!/bin/bash
# Writes bytes that are no text.
printf '\377\376{"a":1}'
