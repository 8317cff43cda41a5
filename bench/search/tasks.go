package main

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/recountdb/recount/bench/pairs"
	"github.com/recountdb/recount/internal/redact/secrets"
)

const (
	// seed fixes the history and the tasks.
	seed = 21
	// runs is the number of runs in the history.
	runs = 15_000
	// tasksEach is the number of tasks of a collection.
	tasksEach = 100
	// deep is how far down a list the wanted command is looked for.
	deep = 100
)

// makeHistory returns the lines of a history, oldest first: each command once, and some more often,
// by Zipf's law.
func makeHistory(all []pairs.Pair) []string {
	var commands []string
	seen := map[string]bool{}
	for _, p := range all {
		if c := folded(p.Command); !seen[c] {
			seen[c] = true
			commands = append(commands, c)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(commands), func(i, j int) { commands[i], commands[j] = commands[j], commands[i] })
	lines := slices.Clone(commands)
	zipf := rand.NewZipf(r, 1.2, 8, uint64(len(commands)-1))
	for len(lines) < runs {
		lines = append(lines, commands[zipf.Uint64()])
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return lines
}

func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

func distinct(lines []string) int {
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l] = true
	}
	return len(seen)
}

// task is a command to find.
type task struct {
	// words and fragments are what is typed.
	words, fragments string
	// wanted are the commands that do it.
	wanted []string
	half   string
}

// makeTasks chooses the tasks of each collection.
func makeTasks(collections [][]pairs.Pair) []task {
	var tasks []task
	for i, c := range collections {
		questions := pairs.Questions(c)
		r := rand.New(rand.NewPCG(seed, uint64(i)+2))
		r.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
		chosen := 0
		for _, q := range questions {
			t := task{words: firstWords(q.Text), fragments: fragments(q.Commands[0], r), half: "dev"}
			if !q.HeldOut || t.words == "" || t.fragments == "" || secret(q.Commands) {
				continue
			}
			if sha256.Sum256([]byte(q.Text))[1]%2 == 1 {
				t.half = "test"
			}
			for _, c := range q.Commands {
				t.wanted = append(t.wanted, folded(c))
			}
			tasks = append(tasks, t)
			if chosen++; chosen == tasksEach {
				break
			}
		}
	}
	return tasks
}

// secret reports whether a command has a secret, which Recount does not keep and so cannot list.
func secret(commands []string) bool {
	return slices.ContainsFunc(commands, func(c string) bool {
		_, found := secrets.Default().Command(c)
		return len(found) > 0
	})
}

// firstWords returns the first three words of more than three letters, "" if there are fewer.
func firstWords(text string) string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
		if w = strings.Trim(w, "-"); len(w) > 3 {
			words = append(words, w)
		}
	}
	if len(words) < 3 {
		return ""
	}
	return strings.Join(words[:3], " ")
}

// fragments returns the beginnings of up to three words of a command in their order, "" if it has
// fewer than two.
func fragments(command string, r *rand.Rand) string {
	var words []string
	for _, w := range strings.FieldsFunc(command, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) >= 3 && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) < 2 {
		return ""
	}
	for len(words) > 3 {
		i := r.IntN(len(words))
		words = slices.Delete(words, i, i+1)
	}
	for i, w := range words {
		words[i] = strings.ToLower(w[:min(len(w), 3+r.IntN(3))])
	}
	return strings.Join(words, " ")
}
