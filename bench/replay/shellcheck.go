package main

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	sorted "slices"
	"strings"
)

// disabled matches the directive that keeps shellcheck from remarks about how people write commands.
var disabled = regexp.MustCompile(`(?m)^# shellcheck disable=\S+\n`)

// shellchecks runs shellcheck on the bash script of each narrative, as it is and without its directive.
func shellchecks() error {
	n, silent := 0, 0
	codes := map[string]int{}
	return each(func(r *recorded) error {
		n++
		text, err := r.ask("", "bash")
		if err != nil {
			return err
		}
		said, err := shellcheck(string(text))
		if err != nil {
			return err
		}
		if len(said) == 0 {
			silent++
		}
		for _, s := range said {
			fmt.Printf("  %s: %s\n", r.n.name, s)
		}
		all, err := shellcheck(disabled.ReplaceAllString(string(text), ""))
		for _, s := range all {
			codes[s[strings.LastIndexByte(s, '[')+1:len(s)-1]]++
		}
		return err
	}, func() {
		fmt.Printf("shellcheck is silent about %d of %d bash scripts\n", silent, n)
		for _, c := range sorted.Sorted(maps.Keys(codes)) {
			fmt.Printf("  %s would be said %d times\n", c, codes[c])
		}
	})
}

// shellcheck returns the remarks about a script, a line each, which end with their code in brackets.
func shellcheck(script string) ([]string, error) {
	c := exec.Command("shellcheck", "--format", "gcc", "--shell", "bash", "-")
	c.Stdin = strings.NewReader(script)
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")[:strings.Count(string(out), "\n")], nil
}
