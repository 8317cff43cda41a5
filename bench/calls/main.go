// Command calls evaluates the call edges of a language with hand-labelled call sites in
// independent repositories.
//
//	go -C bench run ./calls sample -lang LANGUAGE [-n 220] [-seed 1] [-declared] [-half b] DIR > labels.tsv
//	go -C bench run ./calls show LABELS DIR
//	go -C bench run ./calls score [-misses] LABELS DIR [LABELS DIR]…
//
// sample draws call sites from the clone in DIR, by the grammar alone and before any
// resolver runs: each call outside tests whose callee ends in a name has the same
// probability. Rust's Some, Ok and Err do not count as calls, and arguments of macros are
// not searched. The order is that of the draw; the first half is called "a", the second
// "b", so that a resolver can be developed with one half and evaluated with the other; or
// a whole repository is one half (-half). With -declared, only calls of names that the
// repository declares are drawn. show prints the sites without labels, the lines around
// them, and the declarations of their names.
//
// Columns, separated by tabs: repository, commit, file:line:column of the callee's
// last name (lines from 1, columns from 0 in bytes), that name, the half, the label.
// A label is one of
//
//	path:line name   the callee, by the line of its name, in the same repository: a
//	                 function, a method, a declared constructor (by its own name or
//	                 its class's, which begin at different lines), or else the class,
//	                 struct or variant that is created. For a call through an interface
//	                 or trait it is the method declared there; equally correct targets
//	                 follow, each after " | ".
//	external         something in another package or in the language
//	dynamic          a value: a parameter or a field that holds a function
//	none             the callee cannot be determined
//
// score resolves the clone at that commit and compares. An edge at a site is right if it
// leads to one of the label's targets; a site is found if a right edge begins there. With
// -misses it prints wrong edges (+), sites that were not found (-) and sites that were
// found by possible calls alone (~).
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
		log.Fatal("calls: sample, show or score? See go -C bench doc ./calls")
	}
	var err error
	switch verb := os.Args[1]; verb {
	case "sample":
		err = sample(os.Args[2:])
	case "show":
		err = show(os.Args[2:])
	case "score":
		err = score(os.Args[2:])
	default:
		err = fmt.Errorf("%q is none of sample, show and score", verb)
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
