#!/bin/bash
set -e
echo building
