package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/golden"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestScenarios reads testdata/*.txt. A block is a command below "#" comments and the lines "@cwd
// /x", "@shell fish" and "@user ann"; the result follows "----". Run with -rewrite after adding a
// command; commit the output only if it is right. A line that is understood otherwise than before,
// be it one of these or of the ranking test's commands, which other people wrote, needs a new Name.
func TestScenarios(t *testing.T) {
	var all []golden.Versioned
	golden.Blocks(t, "testdata/*.txt", func(t *testing.T, input string) (string, bool) {
		intent := scenario(input)
		if intent == nil {
			return "", false
		}
		checkTokens(t, intent)
		all = append(all, golden.Versioned{Name: "scenario", Versions: Name, Input: []byte(input), Result: golden.Proto(t, intent)})
		return describe(intent), true
	})
	pairs, err := os.ReadFile("../../query/commands/testdata/ranking/pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(pairs)) {
		_, command, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, golden.Versioned{Name: "pair", Versions: Name, Input: []byte(command), Result: golden.Proto(t, scenario(command))})
	}
	golden.Versions(t, "testdata/versions/lines.txt", all)
}

func scenario(input string) *recountv1.Intent {
	in := &recountv1.Intent{Cwd: "/home/ann/src/app", Shell: "bash", User: "ann"}
	var command []string
	for l := range strings.SplitSeq(input, "\n") {
		switch key, value, _ := strings.Cut(l, " "); {
		case len(command) == 0 && key == "#":
		case len(command) == 0 && key == "@cwd":
			in.Cwd = value
		case len(command) == 0 && key == "@shell":
			in.Shell = value
		case len(command) == 0 && key == "@user":
			in.User = value
		default:
			command = append(command, l)
		}
	}
	if len(command) == 0 {
		return nil
	}
	in.Command = strings.Join(command, "\n")
	understand(in, "")
	return in
}

// checkTokens checks that tokens are in source order and at their stated offsets.
func checkTokens(t *testing.T, in *recountv1.Intent) {
	t.Helper()
	last := uint32(0)
	for _, tok := range in.Tokens {
		if tok.Offset < last {
			t.Errorf("%q: token %v stands before the one it follows", in.Command, tok)
		}
		last = tok.Offset
		switch tok.Kind {
		case recountv1.TokenKind_TOKEN_KIND_SEQUENCE, recountv1.TokenKind_TOKEN_KIND_SUBSTITUTION:
			continue // written in canonical form, whatever the source has
		}
		if !strings.HasPrefix(in.Command[tok.Offset:], tok.Text) {
			t.Errorf("%q: token %v is not there", in.Command, tok)
		}
	}
}

func describe(in *recountv1.Intent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", in.Template)
	fmt.Fprintf(&b, "%s %.2f, complexity %d, programs %s\n",
		strings.ToLower(strings.TrimPrefix(in.Category.String(), "CATEGORY_")), in.Confidence, in.Complexity, strings.Join(in.Programs, " "))
	var tokens []string
	for _, t := range in.Tokens {
		tokens = append(tokens, fmt.Sprintf("%s@%d:%q", strings.ToLower(strings.TrimPrefix(t.Kind.String(), "TOKEN_KIND_")), t.Offset, t.Text))
	}
	fmt.Fprintf(&b, "tokens %s\n", strings.Join(tokens, " "))
	for _, r := range in.Resources {
		fmt.Fprintf(&b, "%s %s %s\n", strings.ToLower(strings.TrimPrefix(r.Access.String(), "ACCESS_")), strings.ToLower(strings.TrimPrefix(r.Kind.String(), "RESOURCE_KIND_")), r.Name)
	}
	return b.String()
}
