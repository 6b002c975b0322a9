//go:build !linux

package main

func alone(string, string) {}

func family(string) {}

func doubtful(string, string, bool) {}
