package segment

import (
	"fmt"
	"io"
	"testing"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// history returns a log like a long shell history: one command in four is new, the others repeat
// one of the last few hundred, with its embedding.
func history(rows int) projtest.Shard {
	sh := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commands"}, Next: int64(rows)}
	var kinds []*recountv1.Intent
	for i := range rows {
		if i%4 == 0 {
			command := fmt.Sprintf("kubectl --context prod-%d get pods -n team-%d -l app=web-%d | grep -v Running", i%3, i%17, i)
			in := &recountv1.Intent{
				Command: command, Template: "kubectl --context <name> get pods -n <name> -l <value> | grep -v <pattern>",
				Workspace: "/src/app", Shell: "bash", User: "ada", Host: "laptop", Author: "ada", Embedder: "hash/1",
				Category: recountv1.Category_CATEGORY_QUERY, Confidence: 0.97, Complexity: 3, ContentHash: uint64(i),
				Programs: []string{"kubectl", "grep"}, Concepts: []string{"container", "network", "search"},
				Embedding: embedding(i), GitHead: "8d1c8b69c3fce7bea45c73efd06983e3c419a92f",
				Resources: []*recountv1.Resource{{Kind: recountv1.ResourceKind_RESOURCE_KIND_HOST, Name: fmt.Sprint("prod-", i%3), Access: recountv1.Access_ACCESS_READ}},
			}
			for k, text := range []string{"kubectl", "--context", "prod", "get", "pods", "-n", "team", "-l", "app", "|", "grep", "-v", "Running"} {
				in.Tokens = append(in.Tokens, &recountv1.Token{Kind: recountv1.TokenKind(1 + k%4), Text: text, Offset: uint32(k * 7)})
			}
			kinds = append(kinds, in)
		}
		from := kinds[max(0, len(kinds)-1-i*7919%min(len(kinds), 500))]
		code := int32(i % 5 / 4)
		in := &recountv1.Intent{
			Command: from.Command, Template: from.Template, Workspace: from.Workspace, Shell: from.Shell, User: from.User, Host: from.Host,
			Author: from.Author, Embedder: from.Embedder, Category: from.Category, Confidence: from.Confidence, Complexity: from.Complexity,
			ContentHash: from.ContentHash, ContextHash: uint64(i), Programs: from.Programs, Concepts: from.Concepts, Embedding: from.Embedding,
			GitHead: from.GitHead, Resources: from.Resources, Tokens: from.Tokens,
			Cwd: fmt.Sprint("/src/app/", i/50%40), Session: fmt.Sprint("tty-", i/200), ExitCode: &code, DurationNano: int64(i) * 1000,
			TimeUnixNano: 1_790_000_000_000_000_000 + int64(i)*1_000_000_000,
		}
		id := schemas.NewCanon("segment/bench").Int(int64(i)).ID()
		sh.Records = append(sh.Records, &recountv1.Record{
			Origin:  schemas.Position{Topic: sh.TP.Topic, Offset: int64(i)}.Proto(),
			EventId: id[:], EventType: schemas.TypeCommandExecuted, TimeUnixNano: in.TimeUnixNano,
			Body: &recountv1.Record_Intent{Intent: in},
		})
	}
	return sh
}

// batched calls fn for the shard in batches of 512, as a pipeline would.
func batched(sh projtest.Shard, fn func(schemas.Batch)) {
	for lo := 0; lo < len(sh.Records); lo += 512 {
		hi := min(lo+512, len(sh.Records))
		fn(schemas.Batch{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Next: int64(hi), Records: sh.Records[lo:hi]})
	}
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkAppend measures Apply without sealing and without checkpoints.
func BenchmarkAppend(b *testing.B) {
	sh := history(60_000)
	b.ReportAllocs()
	for b.Loop() {
		p := open(b, b.TempDir(), Options{CheckpointRows: -1})
		batched(sh, func(batch schemas.Batch) {
			if err := p.Apply(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		})
		p.guard.Close(p.unmap) // skip the checkpoint of Close
	}
	perRow(b, len(sh.Records))
}

// BenchmarkApply measures Apply with everything: 4 segments of 65,536 rows and the checkpoints.
func BenchmarkApply(b *testing.B) {
	sh := history(4 << 16)
	for b.Loop() {
		p := open(b, b.TempDir(), Options{})
		batched(sh, func(batch schemas.Batch) {
			if err := p.Apply(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		})
		closeOf(b, p)
	}
	perRow(b, len(sh.Records))
}

// BenchmarkSeal seals 65,536 rows.
func BenchmarkSeal(b *testing.B) {
	sh := history(1<<16 - 1)
	for b.Loop() {
		b.StopTimer()
		p := open(b, b.TempDir(), Options{CheckpointRows: -1})
		if err := p.Apply(b.Context(), sh.Batch(0, sh.Next)); err != nil {
			b.Fatal(err)
		}
		s := p.shard(sh.TP)
		b.StartTimer()
		if err := s.seal(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.publish(sh.Next)
		b.ReportMetric(float64(s.files[0].h.Length)/1e6, "MB")
		closeOf(b, p)
		b.StartTimer()
	}
}

// sealedProjection returns a projection of 4 segments and a hot buffer.
func sealedProjection(b *testing.B) (*Projection, projtest.Shard) {
	sh := history(4<<16 + 10_000)
	p := open(b, b.TempDir(), Options{})
	feed(b, p, sh)
	return p, sh
}

func BenchmarkReopen(b *testing.B) {
	p, _ := sealedProjection(b)
	closeOf(b, p)
	for b.Loop() {
		closeOf(b, open(b, p.dir, Options{}))
	}
}

func BenchmarkLookup(b *testing.B) {
	p, sh := sealedProjection(b)
	defer closeOf(b, p)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 7919) % len(sh.Records)
		if _, ok, err := p.Lookup(b.Context(), schemas.EventID(sh.Records[i].EventId)); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkScan visits every row, newest first.
func BenchmarkScan(b *testing.B) {
	p, sh := sealedProjection(b)
	defer closeOf(b, p)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if err := p.Scan(b.Context(), Filter{}, NewestFirst, func(*View) bool { n++; return true }); n != len(sh.Records) || err != nil {
			b.Fatal(n, err)
		}
	}
	perRow(b, len(sh.Records))
}

// BenchmarkFilter counts by a filter that is applied to every row.
func BenchmarkFilter(b *testing.B) {
	p, sh := sealedProjection(b)
	defer closeOf(b, p)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := p.Count(b.Context(), Filter{Cwd: "/src/app/7", Program: "grep", Exit: failed}); n == 0 || err != nil {
			b.Fatal(n, err)
		}
	}
	perRow(b, len(sh.Records))
}

func BenchmarkExport(b *testing.B) {
	p, sh := sealedProjection(b)
	defer closeOf(b, p)
	for b.Loop() {
		if _, err := p.WriteIPC(b.Context(), io.Discard, Export{}); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b, len(sh.Records))
}

func BenchmarkVerify(b *testing.B) {
	p, _ := sealedProjection(b)
	defer closeOf(b, p)
	for b.Loop() {
		if damage, err := p.Verify(b.Context()); len(damage) > 0 || err != nil {
			b.Fatal(damage, err)
		}
	}
}
