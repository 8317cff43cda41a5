// Command calls judges the call edges of a language by call sites that people
// labelled, in repositories that were not written for it.
//
//	go -C bench run ./calls sample -lang csharp|java|rust|typescript [-n 220] [-seed 1] DIR > labels.tsv
//	go -C bench run ./calls score [-misses] LABELS DIR [LABELS DIR]…
//
// sample draws call sites from the clone in DIR, by the grammar alone and before any
// resolver is asked: each call outside of tests whose callee ends in a name has the
// same chance. Rust's Some, Ok and Err are no calls here, and what stands in a macro's
// arguments is not seen. The order is the draw's; its first half is called "a", the
// second "b", so that a resolver may be mended with one half and judged by the other.
//
// Columns, separated by tabs: repository, commit, file:line:column of the callee's
// last name (lines from 1, columns from 0 in bytes), that name, the half, the label.
// A label is one of
//
//	path:line name   what is called, by the line of its name, in the same repository:
//	                 a function, a method, a constructor where one is written, else the
//	                 class, struct or variant that is made. Of a call through an
//	                 interface or trait it is the method declared there; targets that
//	                 are as right stand behind it, each after " | ".
//	external         something of another package or of the language
//	dynamic          a value: a parameter or a field that holds a function
//	none             it cannot be said
//
// score resolves the clone at that commit and compares. An edge at a site is right
// where it leads to one of the label's targets; a site is found where a right edge
// begins there.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("calls: sample or score? See go -C bench doc ./calls")
	}
	var err error
	switch verb := os.Args[1]; verb {
	case "sample":
		err = sample(os.Args[2:])
	case "score":
		err = score(os.Args[2:])
	default:
		err = fmt.Errorf("%q is neither sample nor score", verb)
	}
	if err != nil {
		log.Fatalf("calls: %v", err)
	}
}

// git runs git in a clone.
func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", args[0], dir, err)
	}
	return strings.TrimSpace(string(out)), nil
}
