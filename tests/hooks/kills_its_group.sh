#!/bin/bash
# Signals everybody in its process group, as a careless clean-up does.
kill -KILL 0
