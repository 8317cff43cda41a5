package segment

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// exported is a row as Arrow's reader returns it, with its embedding.
type exported struct {
	Row
	Embedding []float32
}

// TestWriteIPC exports sealed and hot rows of several partitions, reads them with Arrow's own
// reader and compares every field with what a scan sees.
func TestWriteIPC(t *testing.T) {
	p := open(t, t.TempDir(), Options{SealRows: 100})
	defer closeOf(t, p)
	shards := projtest.Generate(3, 3, 450)
	for i := range shards {
		vary(&shards[i])
		feed(t, p, shards[i])
	}
	for name, f := range map[string]Filter{
		"all":        {},
		"session":    {Session: "s7"},
		"below":      {Below: schemas.Watermark{shards[1].TP: 333}},
		"times":      {From: time.Unix(0, 0), To: time.Unix(1_790_000_600, 0)},
		"cwd":        {Cwd: "/src"},
		"program":    {Program: "docker", Exit: succeeded},
		"categories": {Categories: []recountv1.Category{1, 4}, Exit: unknown},
		"none":       {Host: "no such host"},
	} {
		var want []exported
		err := p.Scan(t.Context(), f, OldestFirst, func(v *View) bool {
			e, err := v.Embedding()
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, exported{v.Row(), slices.Clone(e)})
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if (len(want) == 0) != (name == "none") {
			t.Fatalf("%s: %d rows are chosen: the case tests nothing", name, len(want))
		}
		slices.SortFunc(want, func(a, b exported) int {
			if c := a.Position.TP().Compare(b.Position.TP()); c != 0 {
				return c
			}
			return int(a.Position.Offset - b.Position.Offset)
		})
		var buf bytes.Buffer
		n, err := p.WriteIPC(t.Context(), &buf, Export{Filter: f})
		if err != nil || n != len(want) {
			t.Fatalf("%s: wrote %d rows, %v; want %d", name, n, err, len(want))
		}
		got := readIPC(t, buf.Bytes())
		if !reflect.DeepEqual(got, want) { // DeepEqual is quick; Diff is not
			t.Fatalf("%s: rows read back differ (-got +want):\n%s", name, cmp.Diff(got, want))
		}
	}
}

func readIPC(t *testing.T, b []byte) []exported {
	t.Helper()
	var rows []exported
	r, err := ipc.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		rows = appendBatch(t, rows, r.RecordBatch())
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return rows
}

func appendBatch(t *testing.T, rows []exported, rec arrow.RecordBatch) []exported {
	t.Helper()
	col := func(name string) arrow.Array {
		i := rec.Schema().FieldIndices(name)
		if len(i) != 1 {
			t.Fatalf("column %s: %v", name, i)
		}
		return rec.Column(i[0])
	}
	word := func(a arrow.Array, i int) string {
		d := a.(*array.Dictionary)
		return d.Dictionary().(*array.String).Value(d.GetValueIndex(i))
	}
	number := func(names []string, s string) int32 { return int32(slices.Index(names, s)) }
	unix := func(name string, i int) time.Time {
		return time.Unix(0, int64(col(name).(*array.Timestamp).Value(i))).UTC()
	}
	span := func(name string, i int) (arrow.Array, int, int) {
		l := col(name).(*array.List)
		lo, hi := l.ValueOffsets(i)
		return l.ListValues(), int(lo), int(hi)
	}
	words := func(name string, i int) (all []string) {
		values, lo, hi := span(name, i)
		for k := lo; k < hi; k++ {
			all = append(all, word(values, k))
		}
		return all
	}
	for i := range int(rec.NumRows()) {
		r := Row{
			Position: schemas.Position{
				Topic: word(col("topic"), i), Partition: col("partition").(*array.Int32).Value(i), Offset: col("offset").(*array.Int64).Value(i),
			},
			ID:   schemas.EventID(col("id").(*array.FixedSizeBinary).Value(i)),
			Time: unix("time", i), EventTime: unix("event_time", i),
			Command: col("command").(*array.String).Value(i), StatedIntent: col("stated_intent").(*array.String).Value(i),
			OutputTail: col("output_tail").(*array.String).Value(i),
			Workspace:  word(col("workspace"), i), Cwd: word(col("cwd"), i), Session: word(col("session"), i), Shell: word(col("shell"), i),
			User: word(col("user"), i), Host: word(col("host"), i), Author: word(col("author"), i), Template: word(col("template"), i),
			GitHead: word(col("git_head"), i), Embedder: word(col("embedder"), i),
			Category:   recountv1.Category(number(schemas.CategoryNames, word(col("category"), i))),
			Confidence: col("confidence").(*array.Float32).Value(i), Complexity: col("complexity").(*array.Uint32).Value(i),
			ContextHash: col("context_hash").(*array.Uint64).Value(i), ContentHash: col("content_hash").(*array.Uint64).Value(i),
			Programs: words("programs", i), Concepts: words("concepts", i),
		}
		if c := col("exit_code").(*array.Int32); c.IsValid(i) {
			v := c.Value(i)
			r.ExitCode = &v
		}
		if c := col("duration").(*array.Duration); c.IsValid(i) {
			v := time.Duration(c.Value(i))
			r.Duration = &v
		}
		if c := col("parent_id").(*array.FixedSizeBinary); c.IsValid(i) {
			r.Parent = schemas.EventID(c.Value(i))
		}
		values, lo, hi := span("resources", i)
		for k := lo; k < hi; k++ {
			s := values.(*array.Struct)
			r.Resources = append(r.Resources, Resource{
				Kind:   recountv1.ResourceKind(number(schemas.ResourceKindNames, word(s.Field(0), k))),
				Access: recountv1.Access(number(schemas.AccessNames, word(s.Field(1), k))),
				Name:   word(s.Field(2), k),
			})
		}
		values, lo, hi = span("tokens", i)
		for k := lo; k < hi; k++ {
			s := values.(*array.Struct)
			r.Tokens = append(r.Tokens, Token{
				Kind:   recountv1.TokenKind(number(schemas.TokenKindNames, word(s.Field(0), k))),
				Offset: s.Field(1).(*array.Uint32).Value(k),
				Text:   word(s.Field(2), k),
			})
		}
		e := exported{Row: r}
		if c := col("embedding").(*array.FixedSizeList); c.IsValid(i) {
			lo, hi := c.ValueOffsets(i)
			e.Embedding = slices.Clone(c.ListValues().(*array.Float32).Float32Values()[lo:hi])
		}
		rows = append(rows, e)
	}
	return rows
}

// vary adds to the records of a generated log what the generator leaves out: every kind of
// embedding (none, repeated, unique), concepts, resources of all kinds.
func vary(sh *projtest.Shard) {
	for i, r := range sh.Records {
		in := r.GetIntent()
		if in == nil {
			continue
		}
		if i%7 > 0 {
			in.Embedding = embedding(i % 40 * (i % 3))
			in.Embedder = "test/1"
		}
		if i%3 == 0 {
			in.Concepts = []string{"network", "Ω"}[:1+i%2]
		}
		for k := range int32(i % 4) {
			in.Resources = append(in.Resources, &recountv1.Resource{
				Kind: recountv1.ResourceKind(1 + (int32(i)+k)%8), Access: recountv1.Access(k), Name: in.Command[:min(len(in.Command), int(k))],
			})
			if !validUTF8(in.Resources[len(in.Resources)-1].Name) {
				in.Resources[len(in.Resources)-1].Name = "ä"
			}
		}
	}
}

// embedding returns a unit vector that depends on seed.
func embedding(seed int) []float32 {
	v := make([]float32, schemas.EmbeddingDim)
	sum := 0.0
	for i := range v {
		x := math.Sin(float64(seed*31+i) * 1.7)
		v[i], sum = float32(x), sum+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// TestWriteIPCWithOutcomes checks that Outcome fills in what a row lacks, that values of the row
// itself are kept, and that the exported tables do not change.
func TestWriteIPCWithOutcomes(t *testing.T) {
	p := open(t, t.TempDir(), Options{SealRows: 100})
	defer closeOf(t, p)
	for _, s := range projtest.Generate(5, 2, 350) {
		vary(&s)
		feed(t, p, s)
	}
	elsewhere := func(v *View) (exit *int32, duration *int64, err error) {
		if v.Offset()%3 == 0 {
			code := int32(v.Offset())
			exit = &code
		}
		if v.Offset()%5 == 0 {
			ns := v.Offset()
			duration = &ns
		}
		return exit, duration, nil
	}
	filled := 0
	rows := func(match func(*View) (bool, error), complete bool) (want []exported) {
		t.Helper()
		err := p.Scan(t.Context(), Filter{}, OldestFirst, func(v *View) bool {
			if ok, err := match(v); err != nil || !ok {
				return err == nil
			}
			e, err := v.Embedding()
			if err != nil {
				t.Fatal(err)
			}
			x := exported{v.Row(), slices.Clone(e)}
			exit, duration, _ := elsewhere(v)
			if x.ExitCode == nil && exit != nil && complete {
				x.ExitCode = exit
				filled++
			}
			if x.Duration == nil && duration != nil && complete {
				d := time.Duration(*duration)
				x.Duration = &d
				filled++
			}
			want = append(want, x)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(want, func(a, b exported) int {
			if c := a.Position.TP().Compare(b.Position.TP()); c != 0 {
				return c
			}
			return int(a.Position.Offset - b.Position.Offset)
		})
		return want
	}
	all := func(*View) (bool, error) { return true, nil }
	odd := func(v *View) (bool, error) { return v.Offset()%2 == 1, nil }
	for name, c := range map[string]struct {
		x    Export
		want []exported
	}{
		"all":    {Export{Outcome: elsewhere}, rows(all, true)},
		"chosen": {Export{Outcome: elsewhere, Match: odd}, rows(odd, true)},
		"after":  {Export{}, rows(all, false)},
	} {
		var buf bytes.Buffer
		n, err := p.WriteIPC(t.Context(), &buf, c.x)
		if err != nil || n != len(c.want) || n == 0 {
			t.Fatalf("%s: wrote %d rows, %v; want %d", name, n, err, len(c.want))
		}
		if got := readIPC(t, buf.Bytes()); !reflect.DeepEqual(got, c.want) {
			t.Fatalf("%s: rows read back differ (-got +want):\n%s", name, cmp.Diff(got, c.want))
		}
	}
	if filled == 0 {
		t.Error("no row lacked anything: the test tests nothing")
	}
	boom := errors.New("boom")
	for _, x := range []Export{
		{Match: func(*View) (bool, error) { return false, boom }},
		{Outcome: func(*View) (*int32, *int64, error) { return nil, nil, boom }},
	} {
		if _, err := p.WriteIPC(t.Context(), io.Discard, x); !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
	}
}

// TestWriteIPCTooMuchText checks that more distinct text than Arrow's offsets can address is an
// error that names the column, and does not make offsets wrap around.
func TestWriteIPCTooMuchText(t *testing.T) {
	defer func(n int) { maxText = n }(maxText)
	p := open(t, t.TempDir(), Options{SealRows: 100})
	defer closeOf(t, p)
	shards := projtest.Generate(3, 1, 250)
	vary(&shards[0])
	feed(t, p, shards[0])
	for _, c := range []struct {
		max  int
		fits bool
	}{{math.MaxInt32, true}, {300, false}} {
		maxText = c.max
		_, err := p.WriteIPC(t.Context(), io.Discard, Export{})
		if c.fits != (err == nil) || err != nil && !strings.Contains(err.Error(), "narrow the filter") {
			t.Errorf("at most %d bytes: %v", c.max, err)
		}
	}
}
