#!/bin/sh
echo nothing to patch
