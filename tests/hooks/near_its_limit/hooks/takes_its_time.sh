#!/bin/sh
# Takes most of the second that it has.
sleep 0.6
