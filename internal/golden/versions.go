package golden

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

// A Versioned is what some code made of one input: the input's name, its content, the versions of the code, and the
// result.
type Versioned struct {
	Name, Versions string
	Input, Result  []byte
}

// Versions checks that code whose result changes gets a new version. The file has a line for each input: its name, a
// hash of its content, the versions of the code, and a hash of the result. A result that changes although content and
// versions are the same fails, also with -rewrite: what is stored under a version would be taken for the new result.
func Versions(t *testing.T, file string, all []Versioned) {
	t.Helper()
	known := map[string]string{} // the result's hash, by the rest of the line
	before, err := os.ReadFile(file)
	if err != nil && !Rewriting() {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(before)) {
		line = strings.TrimSuffix(line, "\n")
		i := strings.LastIndexByte(line, ' ')
		known[line[:max(i, 0)]] = line[i+1:]
	}
	var lines []string
	for _, v := range all {
		of := fmt.Sprintf("%s %.4x %s", v.Name, sha256.Sum256(v.Input), v.Versions)
		result := fmt.Sprintf("%.8x", sha256.Sum256(v.Result))
		if was, ok := known[of]; ok && was != result {
			t.Errorf("%s: the result is another one although input and versions are the same: raise the version", of)
		}
		lines = append(lines, of+" "+result+"\n")
	}
	slices.Sort(lines)
	if !t.Failed() {
		Check(t, file, strings.Join(slices.Compact(lines), ""))
	}
}

// Proto returns a message as bytes, which are the same whenever the message is.
func Proto(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
