package main

import (
	"path/filepath"
	"testing"
)

func TestFullMapping(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"/home/ann/app=~/app", "/home/ann/app=/home/bob/app"},
		{"~=~/copy", "/home/bob=/home/bob/copy"},
		{"/home/ann/app=copy", "/home/ann/app=" + here + "/copy"},
		{"/home/ann/app=.", "/home/ann/app=" + here},
		{"/home/ann/app=~carol/app", "/home/ann/app=~carol/app"},
		{"user:ann=bob", "user:ann=bob"},
		{"/home/ann", "/home/ann"},
		{"=~", "=~"},
	} {
		if got := fullMapping(c[0], "/home/bob"); got != c[1] {
			t.Errorf("fullMapping(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}
