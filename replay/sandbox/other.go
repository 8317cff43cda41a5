//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// Init does nothing, as there is no isolation on this system.
func Init() {
	if len(os.Args) > 1 && os.Args[1] == InitVerb {
		fmt.Fprintf(os.Stderr, "sandbox: there is no isolation on %s\n", runtime.GOOS)
		os.Exit(1)
	}
}

// Probe says that there is no isolation on this system.
func Probe(context.Context, []string) (Report, error) {
	return Report{OS: runtime.GOOS}, nil
}

func (s *Sandbox) openIsolated(context.Context) error {
	return &RefusedError{Report{OS: runtime.GOOS}.Missing()}
}

func changeTime(info fs.FileInfo) int64 { return info.ModTime().UnixNano() }

func blocks(info fs.FileInfo) int64 { return info.Size() }

func free(string) int64 { return math.MaxInt64 }

func freeFiles(string) int64 { return math.MaxInt64 }

// Begin, End and TakenBack do nothing, as nothing can be taken back of a copy.
func (s *Sandbox) Begin(string, []string) {}

func (s *Sandbox) End() {}

func (s *Sandbox) TakenBack() string { return "" }

func (s *Sandbox) takeBack() {}

func isWhiteout(fs.FileInfo) bool { return false }

func isOpaque(string) bool { return false }

func pending(*os.File) int { return 0 }
