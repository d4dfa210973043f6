#!/bin/sh
while sleep 1; do
  cat pages/*.md >pages.html
done
