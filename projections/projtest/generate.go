package projtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Shard is what a log holds for one partition: records in order of offset, with gaps, and the
// offset after the last.
type Shard struct {
	TP      schemas.TopicPartition
	Records []*recountv1.Record
	Next    int64
}

// Batch returns the records with offsets from (included) to to (excluded) as a batch.
func (s Shard) Batch(from, to int64) schemas.Batch {
	b := schemas.Batch{Topic: s.TP.Topic, Partition: s.TP.Partition, Next: to}
	for _, r := range s.Records {
		if o := r.Origin.Offset; o >= from && o < to {
			b.Records = append(b.Records, r)
		}
	}
	return b
}

// Generate returns a log such as a few shells produce, as a function of its arguments alone:
// commands with many repeats, some with outcomes that come later and on another partition, texts in
// many scripts, empty fields, extreme times, offsets without a record and records without a body.
// Every event occurs once.
func Generate(seed uint64, partitions, records int) []Shard {
	g := generator{rng: rand.New(rand.NewPCG(seed, 0x5eed)), seed: seed}
	shards := make([]Shard, partitions)
	for i := range shards {
		shards[i].TP = schemas.TopicPartition{Topic: "recount.commands", Partition: int32(i)}
	}
	for range partitions * records {
		s := &shards[g.rng.IntN(partitions)]
		if g.rng.IntN(12) == 0 {
			s.Next += int64(g.rng.IntN(5))
		}
		s.Records = append(s.Records, g.record(s.TP, s.Next))
		s.Next++
	}
	for i := range shards {
		shards[i].Next += int64(g.rng.IntN(3))
	}
	return shards
}

// Redeliver returns the log with some of its events a second and third time, at offsets of their
// own after the first.
func Redeliver(rng *rand.Rand, shards []Shard) []Shard {
	out := make([]Shard, len(shards))
	for i, s := range shards {
		out[i].TP = s.TP
		for j, r := range s.Records {
			out[i].Records = append(out[i].Records, move(r, out[i].Next))
			out[i].Next++
			for rng.IntN(4) == 0 {
				out[i].Records = append(out[i].Records, move(s.Records[rng.IntN(j+1)], out[i].Next))
				out[i].Next++
			}
		}
	}
	return out
}

// Firsts returns the log without the repetitions of an event within a shard.
func Firsts(shards []Shard) []Shard {
	out := make([]Shard, len(shards))
	for i, s := range shards {
		out[i] = Shard{TP: s.TP, Next: s.Next}
		seen := map[schemas.EventID]bool{}
		for _, r := range s.Records {
			if id, err := schemas.SeenAs(r); err != nil || !seen[id] {
				seen[id] = true
				out[i].Records = append(out[i].Records, r)
			}
		}
	}
	return out
}

// move returns the record as if its event were at another offset of its partition.
func move(r *recountv1.Record, offset int64) *recountv1.Record {
	return &recountv1.Record{
		Origin:    &recountv1.Position{Topic: r.Origin.Topic, Partition: r.Origin.Partition, Offset: offset},
		EventId:   r.EventId,
		EventType: r.EventType, TimeUnixNano: r.TimeUnixNano, Body: r.Body,
	}
}

type generator struct {
	rng  *rand.Rand
	seed uint64
	made int64
	ids  []schemas.EventID
	past []*recountv1.Intent
}

func (g *generator) record(tp schemas.TopicPartition, offset int64) *recountv1.Record {
	g.made++
	id := schemas.NewCanon("projtest/1").Int(int64(g.seed)).Int(g.made).ID()
	r := &recountv1.Record{
		Origin:  schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset}.Proto(),
		EventId: id[:], EventType: schemas.TypeCommandExecuted, TimeUnixNano: g.time(),
	}
	switch n := g.rng.IntN(20); {
	case n == 0: // an event that no projection reads
	case n < 4 && len(g.ids) > 0:
		r.EventType = schemas.TypeOutcomeObserved
		r.Body = &recountv1.Record_Outcome{Outcome: g.outcome()}
	default:
		in := g.intent()
		in.TimeUnixNano = r.TimeUnixNano
		r.Body = &recountv1.Record_Intent{Intent: in}
		g.ids, g.past = append(g.ids, id), append(g.past, in)
	}
	return r
}

// time returns the next second in nearly all cases, and sometimes a time that only a broken clock
// gives.
func (g *generator) time() int64 {
	switch g.rng.IntN(40) {
	case 0:
		return 0
	case 1:
		return -g.rng.Int64N(2_208_988_800_000_000_000) // back to 1900
	case 2:
		return 8_800_000_000_000_000_000 + g.rng.Int64N(36_000_000_000_000_000) // 2248 to 2250
	}
	return 1_790_000_000_000_000_000 + g.made*1_000_000_000 + g.rng.Int64N(5_000_000_000)
}

var (
	programs = []string{"git", "go", "docker", "kubectl", "make", "ls", "cd", "npm", "cargo", "psql", "curl", "ssh", "vim", "grep"}
	verbs    = []string{"status", "test", "build", "run", "get pods", "push origin", "commit -m", "logs -f", "apply -f", "install", "", "rebase", "--version"}
	things   = []string{
		"./...", "deploy/api_server.yaml", "userSessionStore", "--no-cache", "feature/login-page", "HEAD~1", "https://example.com/v1/items?id=7",
		"'größter Wert'", "日本語.txt", "🚀", "e\u0301cole", "$(date +%s)", "| wc -l", "&& echo done", "> /tmp/out.log", "", "-rf", "/var/log/nginx/*.gz",
	}
	dirs     = []string{"/src/app", "/src/app/internal/httpServer", "/home/ada", "/", "", "/tmp/ünïcode dir", "/src/infra/k8s-prod"}
	stated   = []string{"", "", "", "find why the tests are flaky", "deploy the new image", "明日のリリース"}
	concepts = []string{"archive", "container", "network", "process", "search", "test", "version-control"}
)

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

func (g *generator) intent() *recountv1.Intent {
	in := &recountv1.Intent{DurationNano: -1, Cwd: pick(g.rng, dirs)}
	var command string
	if len(g.past) > 0 && g.rng.IntN(3) > 0 { // a history consists largely of repeats
		back := min(len(g.past), 1+g.rng.IntN(40))
		command = g.past[len(g.past)-back].Command
	} else {
		program := pick(g.rng, programs)
		command = program
		for range g.rng.IntN(4) {
			command += " " + pick(g.rng, verbs) + " " + pick(g.rng, things)
		}
		if g.rng.IntN(50) == 0 {
			command += strings.Repeat(" word"+fmt.Sprint(g.made), 1+g.rng.IntN(800))
		}
		if g.rng.IntN(80) == 0 {
			command = pick(g.rng, []string{" ", "\x00", "…", "''", "\n\n", "#"})
		}
	}
	in.Command = command
	words := strings.Fields(command)
	in.Template = strings.Join(words, " ")
	in.ContentHash = xxh3.HashString(in.Template)
	if len(words) > 0 {
		in.Programs = words[:1]
	}
	if g.rng.IntN(10) > 0 {
		in.Workspace, in.Session, in.Shell = "/src/app", fmt.Sprint("s", g.made/50), "bash"
		in.User, in.Host, in.Author = "ada", "laptop", "ada"
		in.GitHead = "8d1c8b69c3fce7bea45c73efd06983e3c419a92f"
	}
	in.ContextHash = xxh3.HashString(in.Cwd + "\x00" + in.Host)
	in.StatedIntent = pick(g.rng, stated)
	in.Category = recountv1.Category(g.rng.IntN(8))
	in.Confidence = g.rng.Float32()
	in.Complexity = uint32(1 + len(words)/3)
	if g.rng.IntN(4) > 0 {
		in.DurationNano = g.rng.Int64N(math.MaxInt32)
		code := int32(0)
		if g.rng.IntN(4) == 0 {
			code = g.rng.Int32() - math.MaxInt32/2
		}
		in.ExitCode = &code
	}
	if g.rng.IntN(6) == 0 {
		in.OutputTail = strings.Repeat("line of output\n", g.rng.IntN(30))
	}
	if g.rng.IntN(5) == 0 && len(g.ids) > 0 {
		parent := pick(g.rng, g.ids)
		in.ParentId = parent[:]
	}
	for i, w := range words {
		kind := recountv1.TokenKind_TOKEN_KIND_ARGUMENT
		if i == 0 {
			kind = recountv1.TokenKind_TOKEN_KIND_BINARY
		}
		if i < 20 {
			in.Tokens = append(in.Tokens, &recountv1.Token{Kind: kind, Text: w, Offset: uint32(strings.Index(command, w))})
		}
		if strings.HasPrefix(w, "/") && len(in.Resources) < 5 {
			in.Resources = append(in.Resources, &recountv1.Resource{
				Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: w, Access: recountv1.Access(g.rng.IntN(4)),
			})
		}
	}
	for _, c := range concepts {
		if g.rng.IntN(5) == 0 {
			in.Concepts = append(in.Concepts, c)
		}
	}
	if g.rng.IntN(10) > 0 {
		in.Embedder, in.Embedding = "hash/1", embedding(in.Template)
	}
	return in
}

func (g *generator) outcome() *recountv1.Outcome {
	id := pick(g.rng, g.ids)
	if g.rng.IntN(10) == 0 {
		id[0] ^= 0xff // of an intent that does not exist
	}
	o := &recountv1.Outcome{IntentId: id[:], DurationNano: -1, ObservedUnixNano: g.time()}
	if g.rng.IntN(5) > 0 {
		code := g.rng.Int32N(256)
		o.ExitCode = &code
		o.DurationNano = g.rng.Int64N(math.MaxInt64)
	}
	if g.rng.IntN(3) == 0 {
		o.OutputTail, o.Author = "ok\n", "hook"
	}
	return o
}

// embedding returns a unit vector that is a function of a text.
func embedding(text string) []float32 {
	rng := rand.New(rand.NewPCG(xxh3.HashString(text), 1))
	v := make([]float32, 384)
	var sum float64
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}
