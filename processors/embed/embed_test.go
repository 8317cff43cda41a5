package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func cosine(a, b [Dim]float32) float32 {
	var dot float32
	for i := range a {
		dot += float32(a[i] * b[i])
	}
	return dot
}

func TestUnitLength(t *testing.T) {
	for _, text := range []string{"ls", "find . -size +10M", "find all files larger than 10 MB", "日本語", "x"} {
		v := NewHash().Embed(text)
		if n := math.Sqrt(float64(cosine(v, v))); math.Abs(n-1) > 1e-5 {
			t.Errorf("%q: length %g", text, n)
		}
	}
}

func TestNothingHasNoDirection(t *testing.T) {
	for _, text := range []string{"", " \t\n", "the of and", "--"} {
		if v := NewHash().Embed(text); v != [Dim]float32{} {
			t.Errorf("%q: not zero", text)
		}
	}
}

// TestBytesArePinned checks vectors against stored hashes, because vectors outlive the program. If
// this fails, either the change should not affect them, or it needs a new version: "hash/2".
func TestBytesArePinned(t *testing.T) {
	h := sha256.New()
	for _, text := range pinned {
		for _, x := range NewHash().Embed(text) {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(x))
			h.Write(b[:])
		}
		h.Write([]byte(strings.Join(Concepts(text), " ")))
	}
	const want = "3838f4c6a6818aca46938ead030013ded201dc04c14582fed351b92e55263ae9"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("hash of the pinned texts' embeddings is %s, want %s", got, want)
	}
}

var pinned = []string{
	"ls -la",
	"find . -name '*.go' -size +10M -exec grep -n TODO {} + | sort -k2 > todo.txt",
	"git commit -m 'fix the parser' && git push origin main",
	"docker compose logs -f web",
	"kubectl rollout restart deployment/api -n prod",
	"tar -xzvf a.tar.gz -C /tmp",
	"find all files larger than 10 MB and sort them by size",
	"kill the process that listens on port 8080",
	"echo ünïcode | tr a-z A-Z",
}

// TestOrderOfWords checks that the order of words does not affect the vector, since features are
// sorted before they are added.
func TestOrderOfWords(t *testing.T) {
	a, b := NewHash().Embed("alpha beta gamma delta"), NewHash().Embed("delta gamma beta alpha")
	if a != b {
		t.Error("the order of words shows")
	}
}

// TestEnglishMeetsShell checks that a description is closer to its command than to any other.
func TestEnglishMeetsShell(t *testing.T) {
	pairs := [][2]string{
		{"find all files larger than 10 MB", "find . -size +10M"},
		{"delete the directory and everything in it", "rm -rf build"},
		{"show the last lines of a log file as it grows", "tail -f /srv/x.log"},
		{"count the lines of a file", "wc -l data.csv"},
		{"who is logged in", "who"},
		{"kill a running process", "pkill -9 firefox"},
		{"which process listens on a port", "ss -tlnp"},
		{"space left on the mounted file systems", "df -h"},
		{"copy files to a remote server over ssh", "scp a.txt box:/tmp"},
		{"unpack an archive", "tar -xzf a.tar.gz"},
		{"download a web page", "curl -O https://example.com/x"},
		{"switch to another branch", "git checkout main"},
		{"follow the logs of a container", "docker logs -f api"},
		{"run the unit tests", "go test ./..."},
		{"make a script executable", "chmod +x run.sh"},
		{"replace a string in place", "sed -i s/a/b/g x.conf"},
		{"install a package", "apt-get install jq"},
		{"compare two directories", "diff -r a b"},
		{"memory usage of the machine", "free -m"},
		{"list pods of the cluster", "kubectl get pods"},
	}
	var commands [][Dim]float32
	for _, p := range pairs {
		commands = append(commands, NewHash().EmbedCommand(p[1], ""))
	}
	for i, p := range pairs {
		q := NewHash().Embed(p[0])
		for j := range pairs {
			if j != i && cosine(q, commands[j]) >= cosine(q, commands[i]) {
				t.Errorf("%q lies closer to %q (%.2f, %v) than to %q (%.2f, %v); it is %v", p[0], pairs[j][1], cosine(q, commands[j]), CommandConcepts(pairs[j][1]),
					p[1], cosine(q, commands[i]), CommandConcepts(p[1]), Concepts(p[0]))
			}
		}
	}
}

func TestConcepts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		has        []string
		hasNot     []string
	}{
		{"flags in a cluster", "tar -xzvf a.tgz", []string{"archive", "extract"}, []string{"create-archive"}},
		{"behind a wrapper", "sudo -u root nice -n 5 chmod 755 x", []string{"change-permissions"}, nil},
		{"behind xargs", "find . -name x | xargs -0 -n 1 rm -f", []string{"delete", "find-files"}, nil},
		{"behind -exec", "find . -exec grep -l foo {} +", []string{"search-text", "files-with-match"}, nil},
		{"in a substitution", "cd $(dirname $(which go))", []string{"change-directory", "which-program"}, nil},
		{"a value of a flag", "find . -type d", []string{"directories"}, []string{"regular-files"}},
		{"a program's name that is a word", "look up which files to sort", nil, []string{"which-program"}},
		{"any form of a word", "deleting the named files", []string{"delete"}, nil},
		{"an argument is no program", "echo rm", nil, []string{"delete"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Concepts(c.text)
			for _, want := range c.has {
				if !slices.Contains(got, want) {
					t.Errorf("%q is %v, without %s", c.text, got, want)
				}
			}
			for _, no := range c.hasNot {
				if slices.Contains(got, no) {
					t.Errorf("%q is %v, with %s", c.text, got, no)
				}
			}
			if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("%v is not sorted, or repeats", got)
			}
		})
	}
}

func TestStem(t *testing.T) {
	got := map[string]string{}
	for _, w := range strings.Fields("files file copied copies copying removing removed removes running process processes matches status size sizes ls -l x y2k modified") {
		got[w] = stem(w)
	}
	want := map[string]string{
		"files": "fil", "file": "fil", "copied": "copy", "copies": "copy", "copying": "copy", "removing": "remov", "removed": "remov",
		"removes": "remov", "running": "run", "process": "process", "processes": "process", "matches": "match", "status": "status",
		"size": "siz", "sizes": "siz", "ls": "ls", "-l": "-l", "x": "x", "y2k": "y2k", "modified": "modify",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLooksLikeShell(t *testing.T) {
	for text, want := range map[string]bool{
		"ls":                                true,
		"git status":                        true,
		"find . -size +10M":                 true,
		"sort a.txt":                        true,
		"./run.sh 10":                       true,
		"cat x | wc":                        true,
		"find all files of a user":          false,
		"Execute \"ls -l\" every 2 seconds": false,
		"sort the lines":                    false,
		"disk usage":                        false,
		"kill the process on a port":        false,
		"set +e":                            true,
	} {
		if got := looksLikeShell(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestIntentGetsBoth(t *testing.T) {
	in := &recountv1.Intent{Command: "make test", StatedIntent: "see whether the parser works"}
	Intent(in, NewHash())
	if len(in.Embedding) != Dim || in.Embedder != "hash/1" || !slices.Contains(in.Concepts, "build") {
		t.Errorf("%d dimensions by %q, concepts %v", len(in.Embedding), in.Embedder, in.Concepts)
	}
	q := NewHash().Embed("parser")
	silent := NewHash().EmbedCommand("make test", "")
	if stated := [Dim]float32(in.Embedding); cosine(q, stated) <= cosine(q, silent) {
		t.Error("what it was for does not show")
	}
	mute := &recountv1.Intent{Command: "--"}
	if Intent(mute, NewHash()); mute.Embedding != nil || mute.Embedder != "" {
		t.Errorf("a command without a word has an embedding of %d dimensions by %q", len(mute.Embedding), mute.Embedder)
	}
	bare := &recountv1.Intent{Command: "make test"}
	Intent(bare, nil)
	if bare.Embedding != nil || bare.Embedder != "" || len(bare.Concepts) == 0 {
		t.Errorf("without an embedder: %v", bare)
	}
}

func FuzzEmbed(f *testing.F) {
	for _, p := range pinned {
		f.Add(p)
	}
	f.Add("a$(b`c\"d'e\\")
	f.Add("((((;;>>>(<(")
	f.Add("find -exec -exec \x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		a, b := NewHash().Embed(text), NewHash().Embed(text)
		if a != b {
			t.Fatal("two runs differ")
		}
		n := float64(cosine(a, a))
		if a != ([Dim]float32{}) && math.Abs(n-1) > 1e-4 {
			t.Errorf("squared length %g", n)
		}
		if c := Concepts(text); !slices.IsSorted(c) || !bytes.Equal([]byte(strings.Join(c, " ")), []byte(strings.Join(Concepts(text), " "))) {
			t.Errorf("concepts %v", c)
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		NewHash().Embed(pinned[i%len(pinned)])
	}
}

func BenchmarkConcepts(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Concepts(pinned[i%len(pinned)])
	}
}

// TestEveryClassHasTwoSides checks that each class has shell and english terms, since it would
// connect nothing otherwise.
func TestEveryClassHasTwoSides(t *testing.T) {
	for _, c := range compiled().classes {
		if strings.Trim(c.shell, "; ") == "" || strings.Trim(c.english, "; ") == "" {
			t.Errorf("%s: shell %q, english %q", c.name, c.shell, c.english)
		}
	}
}
