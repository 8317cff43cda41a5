package commands_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

const topic = "recount.commands"

// history is projections fed by hand, as the pipeline would feed them.
type history struct {
	t    testing.TB
	set  *projections.Set
	next schemas.Watermark
	log  map[schemas.Position]schemas.LogRecord
}

func newHistory(t testing.TB) *history {
	t.Helper()
	set, err := projections.Open(t.TempDir(), projections.Options{}, segment.Kind(segment.Options{SealRows: 64}), lexical.Kind, vector.Kind(vector.Options{SealRows: 64}), narrative.Kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return &history{t: t, set: set, next: schemas.Watermark{}, log: map[schemas.Position]schemas.LogRecord{}}
}

var epoch = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// add appends one JSON payload to a partition, at a minute.
func (h *history) add(partition int32, minute int, payload string) schemas.Position {
	h.t.Helper()
	typ := schemas.TypeCommandExecuted
	if strings.Contains(payload, "command_event_id") {
		typ = schemas.TypeOutcomeObserved
	}
	return h.addAll(partition, []schemas.Event{{Type: typ, Source: "test", Time: epoch.Add(time.Duration(minute) * time.Minute), ContentType: schemas.ContentJSON, Payload: []byte(payload)}})
}

func (h *history) addAll(partition int32, events []schemas.Event) schemas.Position {
	h.t.Helper()
	tp := schemas.TopicPartition{Topic: topic, Partition: partition}
	recs := make([]schemas.LogRecord, len(events))
	for i, e := range events {
		if e.ID.IsZero() {
			e.ID = e.DeriveID()
		}
		recs[i] = schemas.LogRecord{Position: schemas.Position{Topic: topic, Partition: partition, Offset: h.next[tp] + int64(i)}, Headers: e.Headers(), Value: e.Payload}
		h.log[recs[i].Position] = recs[i]
	}
	records, err := processors.Records(h.t.Context(), recs, processors.DefaultChain())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range records {
		if r.GetRejected() != nil {
			h.t.Fatalf("rejected: %s", r.GetRejected().Reason)
		}
	}
	h.next[tp] += int64(len(events))
	if err := h.set.Apply(h.t.Context(), schemas.Batch{Topic: topic, Partition: partition, Next: h.next[tp], Records: records}); err != nil {
		h.t.Fatal(err)
	}
	return recs[len(recs)-1].Position
}

func (h *history) sources() commands.Sources {
	return commands.Sources{Set: h.set, Embedder: embed.NewHash(), Concepts: embed.Concepts}
}

func (h *history) find(r commands.FindRequest) commands.FindResponse {
	h.t.Helper()
	resp, err := commands.Find(h.t.Context(), h.sources(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp
}

func commandsOf(r commands.FindResponse) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, h.Command)
	}
	return out
}

func small(t testing.TB) *history {
	h := newHistory(t)
	h.add(0, 0, `{"command":"git clone https://example.com/app.git","cwd":"/src","session":"a","shell":"bash","host":"laptop","user":"ada","exit_code":0}`)
	h.add(0, 1, `{"command":"make test","cwd":"/src/app","session":"a","shell":"bash","host":"laptop","user":"ada","exit_code":2}`)
	h.add(1, 2, `{"command":"docker build -t app .","cwd":"/src/app","session":"b","shell":"zsh","host":"ci","author":"claude","exit_code":0,"workspace":"/src/app"}`)
	h.add(0, 3, `{"command":"make test","cwd":"/src/app/sub","session":"a","shell":"bash","host":"laptop","user":"ada","exit_code":0}`)
	h.add(1, 4, `{"command":"kubectl apply -f deploy.yaml","cwd":"/src/application","session":"b","shell":"zsh","host":"ci","author":"claude","workspace":"/src/app"}`)
	h.add(1, 5, `{"command":"tar -xzf backup.tar.gz","cwd":"/","session":"b","shell":"zsh","host":"ci"}`)
	return h
}

func TestFilters(t *testing.T) {
	h := small(t)
	at := func(minute int) time.Time { return epoch.Add(time.Duration(minute) * time.Minute) }
	for name, tc := range map[string]struct {
		f    commands.Filters
		want []string
	}{
		"none":               {commands.Filters{}, []string{"tar -xzf backup.tar.gz", "kubectl apply -f deploy.yaml", "make test", "docker build -t app .", "git clone https://example.com/app.git"}},
		"since, included":    {commands.Filters{Since: at(4)}, []string{"tar -xzf backup.tar.gz", "kubectl apply -f deploy.yaml"}},
		"until, excluded":    {commands.Filters{Until: at(1)}, []string{"git clone https://example.com/app.git"}},
		"cwd and below":      {commands.Filters{Cwd: "/src/app"}, []string{"make test", "docker build -t app ."}},
		"cwd with a slash":   {commands.Filters{Cwd: "/src/app/"}, []string{"make test", "docker build -t app ."}},
		"session":            {commands.Filters{Session: "a"}, []string{"make test", "git clone https://example.com/app.git"}},
		"workspace":          {commands.Filters{Workspace: "/src/app"}, []string{"kubectl apply -f deploy.yaml", "make test", "docker build -t app ."}},
		"host":               {commands.Filters{Host: "ci", Shell: "zsh", Author: "claude"}, []string{"kubectl apply -f deploy.yaml", "docker build -t app ."}},
		"user":               {commands.Filters{User: "ada"}, []string{"make test", "git clone https://example.com/app.git"}},
		"exit ok":            {commands.Filters{Exit: "ok"}, []string{"make test", "docker build -t app .", "git clone https://example.com/app.git"}},
		"exit fail":          {commands.Filters{Exit: "fail"}, []string{"make test"}},
		"exit number":        {commands.Filters{Exit: "2"}, []string{"make test"}},
		"exit unknown":       {commands.Filters{Exit: "unknown"}, []string{"tar -xzf backup.tar.gz", "kubectl apply -f deploy.yaml"}},
		"resource":           {commands.Filters{Resource: "/src/application/deploy.yaml"}, []string{"kubectl apply -f deploy.yaml"}},
		"its base name":      {commands.Filters{Resource: "deploy.yaml"}, []string{"kubectl apply -f deploy.yaml"}},
		"of a kind":          {commands.Filters{Resource: "path:application/deploy.yaml"}, []string{"kubectl apply -f deploy.yaml"}},
		"of another kind":    {commands.Filters{Resource: "host:deploy.yaml"}, []string{}},
		"a half of its name": {commands.Filters{Resource: "ploy.yaml"}, []string{}},
		"a url":              {commands.Filters{Resource: "https://example.com/app.git"}, []string{"git clone https://example.com/app.git"}},
		"template":           {commands.Filters{Template: "make test"}, []string{"make test"}},
		"program":            {commands.Filters{Program: "make"}, []string{"make test"}},
		"category":           {commands.Filters{Category: "deploy"}, []string{"kubectl apply -f deploy.yaml"}},
		"two at once":        {commands.Filters{Cwd: "/src", Session: "b"}, []string{"kubectl apply -f deploy.yaml", "docker build -t app ."}},
		"nothing has them":   {commands.Filters{Session: "zzz"}, []string{}},
		"a half of a folder": {commands.Filters{Cwd: "/sr"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			resp := h.find(commands.FindRequest{Filters: tc.f})
			if diff := cmp.Diff(commandsOf(resp), tc.want); diff != "" {
				t.Error(diff)
			}
			if len(tc.want) == 0 && (resp.Status != query.StatusEmpty || resp.Hint == "") {
				t.Errorf("status %q, hint %q", resp.Status, resp.Hint)
			}
			// A text that has to do with all of them finds the same, whether the rows
			// are listed before or the paths ask the filters.
			want := slices.Sorted(slices.Values(tc.want))
			for _, few := range []int{0, 1000} {
				restore := commands.ListFewRows(few)
				got := h.find(commands.FindRequest{Text: "make docker kubectl tar git", Filters: tc.f})
				restore()
				if diff := cmp.Diff(slices.Sorted(slices.Values(commandsOf(got))), want, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("by text, %d rows listed: %s", few, diff)
				}
				if len(want) == 0 && !strings.Contains(got.Hint, "filters") {
					t.Errorf("by text, %d rows listed: %q", few, got.Hint)
				}
			}
		})
	}
}

// A selective filter holds before ranking: the one run it leaves is found, though
// a thousand others rank higher.
func TestFiltersHoldBeforeRanking(t *testing.T) {
	h := newHistory(t)
	var events []schemas.Event
	for i := range 3000 {
		session := "crowd"
		if i == 17 {
			session = "needle"
		}
		events = append(events, schemas.Event{
			Type: schemas.TypeCommandExecuted, Time: epoch.Add(time.Duration(i) * time.Second), ContentType: schemas.ContentJSON,
			Payload: fmt.Appendf(nil, `{"command":"deploy service%d","session":%q}`, i%1500, session),
		})
	}
	h.addAll(0, events)
	got := h.find(commands.FindRequest{Text: "deploy", Filters: commands.Filters{Session: "needle"}})
	if diff := cmp.Diff(commandsOf(got), []string{"deploy service17"}); diff != "" {
		t.Error(diff)
	}
}

// The same question has the same answer, whether the few rows that pass its
// filters are listed before, or the paths ask the filters of what they find.
func TestListingRowsChangesNoAnswer(t *testing.T) {
	h := newHistory(t)
	var events []schemas.Event
	verbs := []string{"ls -lS", "du -sh", "docker images", "docker rmi", "git push", "git log", "grep -rn", "find . -name"}
	for i := range 600 {
		events = append(events, schemas.Event{
			Type: schemas.TypeCommandExecuted, Time: epoch.Add(time.Duration(i) * time.Second), ContentType: schemas.ContentJSON,
			Payload: fmt.Appendf(nil, `{"command":"%s item%d","exit_code":%d,"session":"s%d"}`, verbs[i%len(verbs)], i%57, i%2, i%10),
		})
	}
	h.addAll(0, events)
	for _, r := range []commands.FindRequest{
		{Text: "docker images item3", Filters: commands.Filters{Session: "s3"}},
		{Text: "list files by size", Filters: commands.Filters{Exit: "fail", Since: epoch.Add(time.Minute)}, Limit: 30},
		{Text: "git", Filters: commands.Filters{Program: "git"}, AsOf: query.AsOf{Time: epoch.Add(5 * time.Minute)}, Repeats: true},
		{Text: "+docker !rmi", Filters: commands.Filters{Exit: "ok"}},
		{Text: "images", Filters: commands.Filters{Session: "none"}},
	} {
		defer commands.ListFewRows(1000)()
		listed := h.find(r)
		commands.ListFewRows(0)
		asked := h.find(r)
		if diff := cmp.Diff(listed.Hits, asked.Hits); diff != "" {
			t.Errorf("%+v: %s", r, diff)
		}
		if (listed.Hint == "") != (asked.Hint == "") {
			t.Errorf("%+v: hints %q and %q", r, listed.Hint, asked.Hint)
		}
		if !slices.ContainsFunc(listed.Proof, func(s query.Step) bool { return s.Operator == "select" }) {
			t.Errorf("%+v: the proof does not say that rows were listed", r)
		}
	}
}

// asIf embeds every text as if it were another.
type asIf struct{ text string }

func (e asIf) Name() string { return embed.NewHash().Name() }

func (e asIf) Embed(string) [schemas.EmbeddingDim]float32 { return embed.NewHash().Embed(e.text) }

// What shares neither word nor concept with the question is found by its
// embedding, if that is near, with and without filters.
func TestFoundByMeaningAlone(t *testing.T) {
	h := small(t)
	for _, few := range []int{0, 1000} {
		for _, f := range []commands.Filters{{}, {Host: "ci"}} {
			restore := commands.ListFewRows(few)
			s := commands.Sources{Set: h.set, Embedder: asIf{"docker build -t app ."}}
			got, err := commands.Find(t.Context(), s, commands.FindRequest{Text: "xyzzy", Filters: f, EF: 77})
			restore()
			if err != nil || len(got.Hits) == 0 || got.Hits[0].Command != "docker build -t app ." || got.Hits[0].Scores[0].Path != "semantic" {
				t.Errorf("listing %d, %+v: %v %v", few, f, commandsOf(got), err)
			}
			if slices.Contains(commandsOf(got), "make test") {
				t.Errorf("listing %d, %+v: found what is not near: %v", few, f, commandsOf(got))
			}
		}
	}
}

// Of commands that match alike, the newer stands first; one that matches better
// stays ahead of newer ones.
func TestRecencyDecidesBetweenEquals(t *testing.T) {
	h := newHistory(t)
	h.add(0, 0, `{"command":"deploy the api server"}`)
	// These have equal terms and embeddings.
	h.add(0, 1, `{"command":"deploy !"}`)
	h.add(0, 2, `{"command":"deploy ?"}`)
	h.add(1, 3, `{"command":"deploy :"}`)
	want := []string{"deploy the api server", "deploy :", "deploy ?", "deploy !"}
	if diff := cmp.Diff(commandsOf(h.find(commands.FindRequest{Text: "deploy api server"})), want); diff != "" {
		t.Error(diff)
	}
}

func TestCommandsThatReadAlikeAreOneHit(t *testing.T) {
	h := newHistory(t)
	var events []schemas.Event
	for i := range 1000 {
		events = append(events, schemas.Event{Type: schemas.TypeCommandExecuted, Time: epoch.Add(time.Duration(i) * time.Second), ContentType: schemas.ContentJSON, Payload: []byte(`{"command":"make   test"}`)})
	}
	last := h.addAll(0, events)
	h.add(1, 60, `{"command":"make tests-all"}`)
	h.add(1, 0, `{"command":"make test"}`) // appended last, but run first
	got := h.find(commands.FindRequest{Text: "make test"})
	if len(got.Hits) != 2 || got.Hits[0].Position != last {
		t.Fatalf("got %+v", got.Hits)
	}
	all := h.find(commands.FindRequest{Text: "make test", Repeats: true, Limit: 50})
	if len(all.Hits) != 50 || all.Hits[0].Position != last || all.Hits[1].Position.Offset != last.Offset-1 {
		t.Errorf("repeats: %d, %v", len(all.Hits), all.Hits[0].Position)
	}
}

// Equal histories give equal answers to the bit, however they were batched and
// however their partitions came together.
func TestAnswersAreReproducible(t *testing.T) {
	questions := []commands.FindRequest{
		{Text: "list files by size"},
		{Text: "docker images"},
		{Text: "git push", Limit: 3},
		{Text: "find text in files", Filters: commands.Filters{Exit: "ok"}},
		{},
		{Filters: commands.Filters{Exit: "fail"}, Repeats: true},
	}
	verbs := []string{"ls -lS", "du -sh", "docker images", "docker rmi", "git push", "git log", "grep -rn", "find . -name"}
	build := func(seed uint64) []commands.FindResponse {
		h := newHistory(t)
		rng := rand.New(rand.NewPCG(seed, 1))
		todo := map[int32][]schemas.Event{}
		for i := range 400 {
			todo[int32(i%3)] = append(todo[int32(i%3)], schemas.Event{
				Type: schemas.TypeCommandExecuted, Time: epoch.Add(time.Duration(i/2) * time.Second), ContentType: schemas.ContentJSON,
				Payload: fmt.Appendf(nil, `{"command":"%s item%d","exit_code":%d}`, verbs[i%len(verbs)], i%37, i%2),
			})
		}
		for len(todo) > 0 {
			p := int32(rng.IntN(3))
			events, ok := todo[p]
			if !ok {
				continue
			}
			n := 1 + rng.IntN(min(len(events), 50))
			h.addAll(p, events[:n])
			if todo[p] = events[n:]; len(todo[p]) == 0 {
				delete(todo, p)
			}
		}
		var out []commands.FindResponse
		for _, q := range questions {
			out = append(out, h.find(q))
		}
		return out
	}
	want := build(1)
	for seed := uint64(2); seed < 5; seed++ {
		if diff := cmp.Diff(build(seed), want, cmpopts.IgnoreFields(commands.FindResponse{}, "Timing")); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
	for i, r := range want {
		if len(r.Hits) == 0 || len(r.Proof) < 2 {
			t.Errorf("question %d: %d hits, %d steps", i, len(r.Hits), len(r.Proof))
		}
	}
}

// A proof can be checked: from the ranks of its steps follows each hit's score.
func TestProofGivesTheScores(t *testing.T) {
	resp := small(t).find(commands.FindRequest{Text: "make docker test"})
	got := map[schemas.Position]float64{}
	var ends []query.Evidence
	for _, s := range resp.Proof {
		weight := 0.0
		if w := s.Inputs["weight"]; w != "" {
			if _, err := fmt.Sscan(w, &weight); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range s.Hits {
			got[e.Position] += float64(weight * e.Score)
		}
		if s.Operator == "limit" {
			ends = s.Hits
		}
	}
	if len(ends) == 0 || len(ends) != len(resp.Hits) {
		t.Fatalf("proof ends with %d hits, the answer has %d", len(ends), len(resp.Hits))
	}
	for i, e := range ends {
		if e.Position != resp.Hits[i].Position || got[e.Position] != resp.Hits[i].Score || e.Score != resp.Hits[i].Score {
			t.Errorf("%s: the steps give %v, the hit says %v", e.Position, got[e.Position], resp.Hits[i].Score)
		}
	}
}

func TestAsOf(t *testing.T) {
	h := newHistory(t)
	first := h.add(0, 0, `{"command":"make one"}`)
	h.add(0, 1, `{"command":"make two"}`)
	h.add(1, 2, `{"command":"make three"}`)
	upTo := schemas.Watermark{first.TP(): first.Offset + 1}
	for name, tc := range map[string]struct {
		as   query.AsOf
		want []string
	}{
		"a watermark": {query.AsOf{Offsets: upTo}, []string{"make one"}},
		"a time":      {query.AsOf{Time: epoch.Add(time.Minute)}, []string{"make two", "make one"}},
		"before all":  {query.AsOf{Time: epoch.Add(-time.Minute)}, []string{}},
	} {
		for _, text := range []string{"", "make"} {
			got := h.find(commands.FindRequest{Text: text, AsOf: tc.as})
			names := commandsOf(got)
			if text != "" {
				slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
			}
			if diff := cmp.Diff(names, tc.want); diff != "" {
				t.Errorf("%s, text %q: %s", name, text, diff)
			}
			if len(tc.want) == 0 && got.Hint == "" {
				t.Errorf("%s: no hint", name)
			}
		}
	}
	if got := h.find(commands.FindRequest{AsOf: query.AsOf{Offsets: upTo}}); got.Watermark.String() != topic+"/0:1" {
		t.Errorf("watermark %s", got.Watermark)
	}
}

// Before, a bound that an int64 of nanoseconds cannot say overflowed: until 9999-12-31
// found nothing, and since then found everything.
func TestTimesBeyondNanoseconds(t *testing.T) {
	h := newHistory(t)
	h.add(0, 0, `{"command":"make one","session":"s","exit_code":1}`)
	h.add(0, 1, `{"command":"make two","session":"s","exit_code":0}`)
	never, always := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		r    commands.FindRequest
		want int
	}{
		"until late":  {commands.FindRequest{Filters: commands.Filters{Until: never}}, 2},
		"until early": {commands.FindRequest{Filters: commands.Filters{Until: always}}, 0},
		"since late":  {commands.FindRequest{Filters: commands.Filters{Since: never}}, 0},
		"since early": {commands.FindRequest{Filters: commands.Filters{Since: always}}, 2},
		"as of late":  {commands.FindRequest{AsOf: query.AsOf{Time: never}}, 2},
		"as of early": {commands.FindRequest{AsOf: query.AsOf{Time: always}}, 0},
	} {
		for _, text := range []string{"", "make"} {
			r := tc.r
			r.Text = text
			if got := h.find(r); len(got.Hits) != tc.want {
				t.Errorf("%s, text %q: %v, want %d", name, text, commandsOf(got), tc.want)
			}
		}
	}
	id := h.find(commands.FindRequest{}).Hits[0].ID.String()
	m := query.Moment{AsOf: query.AsOf{Time: never}}
	if got, err := commands.Why(t.Context(), h.sources(), commands.WhyRequest{Moment: m, Ref: id}); err != nil || got.Status != query.StatusOK {
		t.Errorf("why: %v %v", got.Status, err)
	}
	if got, err := commands.Stitch(t.Context(), h.sources(), commands.StitchRequest{Moment: m, Ref: id}); err != nil || len(got.Nodes) != 2 {
		t.Errorf("stitch: %+v %v", got.Nodes, err)
	}
	in, err := commands.Insights(t.Context(), h.sources(), commands.InsightsRequest{Moment: m, Filters: commands.Filters{Until: never}})
	if err != nil || in.Commands != 2 {
		t.Errorf("insights: %d %v", in.Commands, err)
	}
}

// By time, too, nothing is known of an outcome before it was observed.
func TestAsOfTimeHidesLaterOutcomes(t *testing.T) {
	h := newHistory(t)
	h.add(0, 0, `{"command":"make slow"}`)
	id := h.find(commands.FindRequest{}).Hits[0].ID
	h.add(0, 5, `{"command_event_id":"`+id.String()+`","exit_code":2}`)
	for minute, known := range map[int]bool{4: false, 5: true, 6: true} {
		got := h.find(commands.FindRequest{Text: "make", AsOf: query.AsOf{Time: epoch.Add(time.Duration(minute) * time.Minute)}})
		if len(got.Hits) != 1 || (got.Hits[0].ExitCode != nil) != known {
			t.Errorf("at minute %d: %+v, want the exit code known: %v", minute, got.Hits, known)
		}
	}
}

func TestHintsSayWhatToChange(t *testing.T) {
	empty := newHistory(t)
	if got := empty.find(commands.FindRequest{Text: "x"}); got.Hint != commands.NoneRecorded || !strings.Contains(got.Hint, "recount hook") || !strings.Contains(got.Hint, "recount import history") {
		t.Errorf("empty: %q", got.Hint)
	}
	h := small(t)
	for name, tc := range map[string]struct {
		r    commands.FindRequest
		want string
	}{
		"no such word":       {commands.FindRequest{Text: "xyzzy"}, "try words"},
		"one filter is it":   {commands.FindRequest{Text: "make test", Filters: commands.Filters{Session: "b", Shell: "bash"}}, `without session "b" there would be 2`},
		"two filters are it": {commands.FindRequest{Text: "make test", Filters: commands.Filters{Session: "none", Shell: "fish"}}, "two or more"},
		"no text, one":       {commands.FindRequest{Filters: commands.Filters{Host: "ci", User: "ada"}}, "without host \"ci\" there would be 3"},
	} {
		if got := h.find(tc.r); got.Status != "empty" || !strings.Contains(got.Hint, tc.want) {
			t.Errorf("%s: %s %q, want %q", name, got.Status, got.Hint, tc.want)
		}
	}
}

func TestShow(t *testing.T) {
	h := newHistory(t)
	pos := h.add(0, 0, `{"command":"cp a.txt /tmp/b.txt","cwd":"/src","output_tail":"done","stated_intent":"keep a copy"}`)
	ctx := t.Context()
	got, err := commands.Show(ctx, h.sources(), pos.String())
	if err != nil {
		t.Fatal(err)
	}
	if got.Command != "cp a.txt /tmp/b.txt" || got.StatedIntent != "keep a copy" || got.OutputTail != "done" || len(got.Tokens) == 0 || len(got.Resources) != 2 || got.Programs[0] != "cp" {
		t.Errorf("got %+v", got)
	}
	id := got.ID.String()
	for _, ref := range []string{id, id[:4], id[:13], strings.ToUpper(id[:10]), strings.ReplaceAll(id, "-", "")} {
		if again, err := commands.Show(ctx, h.sources(), ref); err != nil || again.ID != got.ID {
			t.Errorf("%q: %v %v", ref, again.ID, err)
		}
	}
	h.add(1, 1, `{"command_event_id":"`+id+`","exit_code":1,"duration":"2s"}`)
	if got, err = commands.Show(ctx, h.sources(), id); err != nil || *got.ExitCode != 1 || *got.Duration != 2e9 || got.Outcome.Partition != 1 {
		t.Errorf("with its outcome: %+v %v", got.Intent, err)
	}
	var nf *query.NotFoundError
	for _, ref := range []string{"", "abc", "zzzz", "0000", "recount.commands/0/99", "recount.commands/x/1", "nothing/7/7"} {
		if _, err := commands.Show(ctx, h.sources(), ref); !errors.As(err, &nf) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	ev := func(b byte, command string) schemas.Event {
		return schemas.Event{ID: schemas.EventID{0xab, 0xcd, b}, Type: schemas.TypeCommandExecuted, Time: epoch, ContentType: schemas.ContentJSON, Payload: []byte(`{"command":"` + command + `"}`)}
	}
	h.addAll(0, []schemas.Event{ev(1, "one"), ev(2, "two")})
	var am *query.AmbiguousError
	if _, err := commands.Show(ctx, h.sources(), "abcd"); !errors.As(err, &am) || len(am.Matches) != 2 || am.Matches[1].Command != "two" || !am.Matches[1].Time.Equal(epoch) {
		t.Errorf("ambiguous: %v", err)
	}
	if got, err := commands.Show(ctx, h.sources(), "abcd02"); err != nil || got.Command != "two" {
		t.Errorf("one digit more: %+v %v", got.Command, err)
	}
}

// Before: an outcome that came in while an answer was made was in it, above the
// watermark that it said to rest on.
func TestShowRestsOnItsWatermark(t *testing.T) {
	h := newHistory(t)
	pos := h.add(0, 0, `{"command":"make"}`)
	shown, err := commands.Show(t.Context(), h.sources(), pos.String())
	if err != nil {
		t.Fatal(err)
	}
	lr := schemas.LogRecord{Position: schemas.Position{Topic: topic, Partition: 1}, Value: []byte(`{"command_event_id":"` + shown.ID.String() + `","exit_code":1}`)}
	lr.Headers = schemas.Event{Type: schemas.TypeOutcomeObserved, Source: "test", Time: epoch, ContentType: schemas.ContentJSON, ID: schemas.EventID{1}}.Headers()
	records, err := processors.Records(t.Context(), []schemas.LogRecord{lr}, processors.DefaultChain())
	if err != nil {
		t.Fatal(err)
	}
	g, release, err := h.set.Acquire(narrative.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	batch := schemas.Batch{Topic: topic, Partition: 1, Next: 1, Records: records}
	if err := g.Apply(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	shown, err = commands.Show(t.Context(), h.sources(), pos.String())
	if err != nil || shown.Outcome != nil || len(shown.Watermark) != 1 {
		t.Errorf("at %s: outcome at %v: %v", shown.Watermark, shown.Outcome, err)
	}
	if err := h.set.Apply(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	shown, err = commands.Show(t.Context(), h.sources(), pos.String())
	if err != nil || shown.Outcome == nil || !shown.Watermark.Covers(schemas.Watermark{batch.TP(): 1}) {
		t.Errorf("at %s: outcome at %v: %v", shown.Watermark, shown.Outcome, err)
	}
}

func TestScanAndCount(t *testing.T) {
	h := small(t)
	var got []string
	err := commands.Scan(t.Context(), h.sources(), commands.Filters{Since: epoch.Add(time.Minute)}, 3, func(s commands.Scanned) error {
		got = append(got, s.Command)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, []string{"make test", "docker build -t app .", "make test"}); diff != "" {
		t.Error(diff)
	}
	c, err := commands.Count(t.Context(), h.sources(), 5)
	want := commands.Census{Count: 6, Oldest: epoch, Newest: epoch.Add(5 * time.Minute), Recent: 5, OK: 2, Failed: 1, Unknown: 2}
	if diff := cmp.Diff(c, want, cmpopts.IgnoreFields(commands.Census{}, "Shards")); diff != "" || err != nil || len(c.Shards) != 2 || c.Shards[0].Rows()+c.Shards[1].Rows() != 6 {
		t.Errorf("%s %v", diff, err)
	}
	// An interruption is no failure, and neither is an answer of no, as in stats.
	h.add(0, 10, `{"command":"sleep 20","exit_code":130}`)
	h.add(0, 11, `{"command":"grep x notes","exit_code":1}`)
	c, err = commands.Count(t.Context(), h.sources(), 2)
	if c.OK != 1 || c.Failed != 0 || c.Unknown != 1 || err != nil {
		t.Errorf("ok %d, failed %d, unknown %d: %v", c.OK, c.Failed, c.Unknown, err)
	}
}
