//go:build !linux

package main

func alone(string, string) {}

func family(string) {}
