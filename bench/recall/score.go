package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// label is what a reader said of an item: good bears on the task, weak is about the same subject
// and helps nobody, bad does neither. Only good counts.
type label struct{ verdict, why string }

// readLabels reads lines of key, split, occasion, verdict and reason, separated by tabs.
func readLabels(file string) (map[string]label, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]label{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Split(sc.Text(), "\t")
		if len(fields) < 5 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		all[fields[0]] = label{fields[3], fields[4]}
	}
	return all, nil
}

// score prints the precision of the items that have a label.
func score(_ context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("score: want the labels and the items")
	}
	labels, err := readLabels(args[0])
	if err != nil {
		return err
	}
	f, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	type count struct{ all, labelled, good int }
	counts := map[string]*count{}
	for d := json.NewDecoder(f); d.More(); {
		var x injected
		if err := d.Decode(&x); err != nil {
			return err
		}
		part := "dev"
		if x.Held {
			part = "held"
		}
		for _, name := range []string{part + " " + x.On, part + " all"} {
			c := counts[name]
			if c == nil {
				c = &count{}
				counts[name] = c
			}
			c.all++
			if l, ok := labels[x.Key]; ok {
				c.labelled++
				if l.verdict == "good" {
					c.good++
				}
			}
		}
	}
	for _, name := range []string{"dev prompt", "dev failure", "dev all", "held prompt", "held failure", "held all"} {
		if c := counts[name]; c != nil && c.labelled > 0 {
			fmt.Printf("%-14s injected %d, labelled %d, bears on the task %d: %.3f\n", name, c.all, c.labelled, c.good, float64(c.good)/float64(c.labelled))
		}
	}
	return nil
}
