package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// search finds the requested events in the log itself, so that it also finds what no projection
// holds, and every copy of an event.
//
// Dependent records are erased too: the outcome of a command, the rejected copy of an event, its
// records on a derived topic, and the same content of a file under other paths.
//
// Of commits only the contents of files are erased; who made which commit when, and where branches
// point, is kept.
type search struct {
	r       api.ForgetRequest
	of      *schemas.Principal          // the agent whose events alone are searched; nil is everybody's
	ids     map[schemas.EventID]string  // the requested ids, as spelt in the request
	at      map[schemas.Position]string // the requested positions, likewise
	named   map[string]bool             // other requested texts: producers' own ids
	pattern *regexp.Regexp
	topics  []string

	mu      sync.Mutex
	found   []hit
	taken   map[schemas.Position]bool
	chosen  map[schemas.Position]bool // those of taken that were requested
	gone    map[schemas.EventID]bool  // the ids of chosen
	met     map[string]bool           // the requested names that were found
	blobs   map[fileID]bool           // the files among chosen
	kept    int
	already int
}

// fileID identifies a file's content in a repository.
type fileID struct{ repository, blob string }

func fileOf(m *recountv1.SourceRevised) fileID { return fileID{m.GetRepository(), m.GetBlob()} }

// hit is an event to be erased.
type hit struct {
	pos    schemas.Position
	id     schemas.EventID
	sum    [sha256.Size]byte
	bytes  int
	sample api.ForgetSample
}

func newSearch(log *pipeline.Log, r api.ForgetRequest) (*search, error) {
	s := &search{
		r: r, ids: map[schemas.EventID]string{}, at: map[schemas.Position]string{}, named: map[string]bool{},
		taken: map[schemas.Position]bool{}, chosen: map[schemas.Position]bool{}, gone: map[schemas.EventID]bool{}, met: map[string]bool{},
		blobs: map[fileID]bool{},
	}
	ways := 0
	for _, asked := range []bool{len(r.Events) > 0, r.Session != "", r.Pattern != ""} {
		if asked {
			ways++
		}
	}
	if ways != 1 {
		return nil, schemas.Poisonf("forget: want exactly one of events, session and pattern, not %d of them", ways)
	}
	if !utf8.ValidString(r.Reason) || !utf8.ValidString(r.Author) || !utf8.ValidString(r.Session) {
		return nil, schemas.Poisonf("forget: reason, author or session: not UTF-8")
	}
	for _, text := range r.Events {
		if id, err := schemas.ParseEventID(strings.ToLower(text)); err == nil {
			s.ids[id] = text
		} else if at, err := schemas.ParsePosition(text); err == nil {
			s.at[schemas.Position{Topic: log.Topic(at.Topic), Partition: at.Partition, Offset: at.Offset}] = text
		} else if text != "" {
			s.named[text] = true
		}
	}
	if r.Pattern != "" {
		re, err := regexp.Compile(r.Pattern)
		if err != nil {
			// The error would quote the pattern, which may be a secret.
			return nil, schemas.Poisonf("forget: pattern: not a regular expression (RE2)")
		}
		if re.MatchString("") {
			return nil, schemas.Poisonf("forget: pattern: it matches the empty text, and therefore every event")
		}
		s.pattern = re
	}
	have := schemas.Topics()
	for _, t := range r.Topics {
		name := schemas.TopicName(t)
		if !slices.Contains(have, name) || name == schemas.TopicErasures {
			return nil, schemas.Poisonf("forget: topic %q: want some of %s", t, strings.Join(erasable(), ", "))
		}
		s.topics = append(s.topics, name)
	}
	if len(s.topics) == 0 {
		s.topics = erasable()
	}
	return s, nil
}

// erasable returns the topics that are searched. Of topic commits only files are erased.
func erasable() []string {
	return slices.DeleteFunc(schemas.Topics(), func(t string) bool { return t == schemas.TopicErasures })
}

// run searches the log up to its current end.
func (s *search) run(ctx context.Context, log *pipeline.Log, m *meter) error {
	if _, err := log.ReadErasures(ctx); err != nil {
		return err
	}
	if err := s.pass(ctx, log, m, "search the log", s.topics, s.primary); err != nil {
		return err
	}
	if len(s.found) == 0 {
		return nil
	}
	follow := []string{schemas.TopicCommands, schemas.TopicRejected}
	if len(s.blobs) > 0 {
		follow = append(follow, schemas.TopicCommits)
	}
	derived, err := derivedTopics(ctx, log)
	if err != nil {
		return err
	}
	err = s.pass(ctx, log, m, "search for outcomes and copies", append(follow, derived...), s.dependent)
	slices.SortFunc(s.found, func(a, b hit) int { return a.pos.Compare(b.pos) })
	return err
}

// derivedTopics returns the topics that pass records on if processing and projecting are separate
// processes (configs/split).
func derivedTopics(ctx context.Context, log *pipeline.Log) ([]string, error) {
	all, err := log.Topics(ctx)
	var names []string
	for _, t := range all {
		if strings.HasPrefix(t.Name, log.Config().Prefix+"records.") {
			names = append(names, t.Name)
		}
	}
	return names, err
}

func (s *search) pass(ctx context.Context, log *pipeline.Log, m *meter, phase string, topics []string, look func(schemas.LogRecord)) error {
	ends, err := log.Ends(ctx, topics...)
	if err != nil {
		return err
	}
	starts, err := log.Starts(ctx, topics...)
	if err != nil {
		return err
	}
	m.begin(phase, distance(starts, ends))
	err = log.Follow(ctx, pipeline.FollowOptions{
		Partitions: ends.Partitions(), Until: ends, MaxRecords: replayRecords, MaxBytes: replayBytes,
		From: func(tp schemas.TopicPartition) int64 { return starts[tp] },
	}, func(_ context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		for _, r := range recs {
			look(r)
		}
		m.add(int64(len(recs)))
		return nil
	})
	m.end()
	return err
}

// primary adds a record if the request asks for it.
func (s *search) primary(r schemas.LogRecord) {
	e, err := r.Event()
	if err != nil {
		e = schemas.Event{} // the record can still be found by its position or by a pattern
	}
	if e.Type == schemas.TypeIDsRetired {
		return // it says nothing of what events held, and without it imports bring them back
	}
	var payload proto.Message
	decode := func() {
		if payload == nil && err == nil && len(e.Payload) > 0 {
			payload, _ = e.DecodePayload()
		}
	}
	name, asked := s.wants(r, e)
	if !asked && s.pattern != nil && e.Type == schemas.TypeSourceRevised {
		decode()
		asked = s.matchesFile(payload)
	}
	if !asked {
		return
	}
	decode()
	if s.of != nil {
		a, ok := payload.(*recountv1.AgentEvent)
		if !ok || schemas.TopicName(r.Position.Topic) != schemas.TopicAgents || !s.of.Appended(a.Tenant, a.Workspace, a.Agent) {
			return
		}
	}
	if s.r.Session != "" {
		if p, ok := payload.(interface{ GetSession() string }); !ok || p.GetSession() != s.r.Session {
			return
		}
	}
	if s.r.Tenant != "" {
		if p, ok := payload.(interface{ GetTenant() string }); !ok || p.GetTenant() != s.r.Tenant {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != "" {
		s.met[name] = true
	}
	if _, ok := r.Erased(); ok {
		s.already++
		return
	}
	if schemas.TopicName(r.Position.Topic) == schemas.TopicCommits {
		m, ok := payload.(*recountv1.SourceRevised)
		if !ok {
			s.kept++
			return
		}
		s.blobs[fileOf(m)] = true
	}
	s.take(r, e, payload, "")
}

// wants reports whether a record matches the request's events or pattern; for a session the caller
// checks the payload. name is the text in the request, if the event was requested by name.
func (s *search) wants(r schemas.LogRecord, e schemas.Event) (name string, ok bool) {
	if s.r.Session != "" {
		return "", true
	}
	if s.pattern != nil {
		return "", s.matches(r)
	}
	if name, ok = s.at[r.Position]; ok {
		return name, true
	}
	if e.Type == "" {
		return "", false
	}
	if name, ok = s.ids[e.ID]; ok {
		return name, true
	}
	for _, h := range r.Headers {
		if h.Key == "ce_id" && s.named[string(h.Value)] {
			return string(h.Value), true
		}
	}
	return "", false
}

// matches reports whether the pattern matches anything in a record: its bytes, or a string of JSON
// with its escapes decoded.
func (s *search) matches(r schemas.LogRecord) bool {
	if s.pattern.Match(r.Value) || s.pattern.Match(r.Key) {
		return true
	}
	for _, h := range r.Headers {
		if s.pattern.Match(h.Value) || s.pattern.MatchString(h.Key) {
			return true
		}
	}
	if !bytes.ContainsRune(r.Value, '\\') {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(r.Value))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return false
		}
		if text, ok := token.(string); ok && s.pattern.MatchString(text) {
			return true
		}
	}
}

// matchesFile reports whether the pattern matches a file's content, which most events hold
// compressed.
func (s *search) matchesFile(payload proto.Message) bool {
	m, ok := payload.(*recountv1.SourceRevised)
	if !ok || len(m.GetContentZstd()) == 0 {
		return false
	}
	content, err := schemas.Decompress(m.GetContentZstd(), source.MaxContent)
	return err == nil && s.pattern.Match(content)
}

// dependent adds a record if it depends on an event that was found.
func (s *search) dependent(r schemas.LogRecord) {
	if _, ok := r.Erased(); ok || len(r.Value) == 0 {
		return
	}
	e, err := r.Event()
	with := ""
	switch topic := schemas.TopicName(r.Position.Topic); {
	case strings.Contains(r.Position.Topic, "records."):
		rec := &recountv1.Record{}
		if proto.Unmarshal(r.Value, rec) != nil || rec.GetOrigin() == nil {
			if protojson.Unmarshal(r.Value, rec) != nil {
				return
			}
		}
		with, e = "a record of "+schemas.PositionOf(rec.GetOrigin()).String(), schemas.Event{}
		if !s.chosen[schemas.PositionOf(rec.GetOrigin())] {
			return
		}
	case err != nil:
		return
	case topic == schemas.TopicRejected:
		m, err := e.DecodePayload()
		x, ok := m.(*recountv1.Rejected)
		if err != nil || !ok || !s.chosen[schemas.PositionOf(x.GetPosition())] {
			return
		}
		with = "the rejected copy of " + schemas.PositionOf(x.GetPosition()).String()
	case e.Type == schemas.TypeOutcomeObserved && s.of == nil: // not for agents, whose events may have a command's id
		m, err := e.DecodePayload()
		x, ok := m.(*recountv1.OutcomeObserved)
		if err != nil || !ok {
			return
		}
		id := schemas.ProducerID(e.Source, x.GetCommandEventId())
		if !s.gone[id] {
			return
		}
		with = "the outcome of " + id.String()
	case (e.Type == schemas.TypeReplayPlanned || e.Type == schemas.TypeReplayStarted || e.Type == schemas.TypeReplayStepEnded) && s.of == nil:
		id, ok := s.replays(e)
		if !ok {
			return
		}
		with = "a replay of " + id.String()
	case e.Type == schemas.TypeSourceRevised:
		m, err := e.DecodePayload()
		x, ok := m.(*recountv1.SourceRevised)
		if err != nil || !ok || !s.blobs[fileOf(x)] {
			return
		}
		with = "the same content, " + x.GetBlob()
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.taken[r.Position] {
		s.take(r, e, nil, with)
	}
}

// uuids finds the ids in a plan.
var uuids = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// replays returns the first of the forgotten commands whose text an event of a replay repeats.
func (s *search) replays(e schemas.Event) (id schemas.EventID, ok bool) {
	m, err := e.DecodePayload()
	if err != nil {
		return id, false
	}
	switch m := m.(type) {
	case interface{ GetCommandEventId() string }:
		id = schemas.ProducerID(e.Source, m.GetCommandEventId())
		return id, s.gone[id]
	case *recountv1.ReplayPlanned:
		for _, text := range uuids.FindAllString(m.GetPlan(), -1) {
			if id, err = schemas.ParseEventID(text); err == nil && s.gone[id] {
				return id, true
			}
		}
	}
	return id, false
}

// take adds a record to the hits. The caller holds mu.
func (s *search) take(r schemas.LogRecord, e schemas.Event, payload proto.Message, with string) {
	h := hit{
		pos: r.Position, id: e.ID, sum: sha256.Sum256(r.Value), bytes: len(r.Value),
		sample: api.ForgetSample{Position: r.Position, ID: e.ID, Type: e.Type, Time: r.Timestamp.UTC(), Bytes: len(r.Value), With: with},
	}
	if e.Type != "" {
		h.sample.Time = e.Time
	}
	if m, ok := payload.(*recountv1.AgentEvent); ok {
		h.id = schemas.EventObjectID(m.Tenant, m.Workspace, m.Agent, e.ID)
	}
	if _, known := schemas.KindOf(e.Type); !known && e.Type != "" {
		h.sample.Type = "other" // the type is a producer's free text
	}
	if s.pattern == nil {
		h.sample.Text = opening(payload)
	}
	s.found = append(s.found, h)
	s.taken[r.Position] = true
	if with == "" {
		s.chosen[r.Position] = true
		if !e.ID.IsZero() {
			s.gone[e.ID] = true
		}
	}
}

// maxSamples and longestOpening limit the sample in a report: its number of events, and the bytes
// shown of each.
const (
	maxSamples     = 10
	longestOpening = 120
)

// opening returns the start of an event's text.
func opening(payload proto.Message) string {
	text := ""
	switch p := payload.(type) {
	case interface{ GetCommand() string }:
		text = p.GetCommand()
	case interface{ GetText() string }:
		text = p.GetText()
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longestOpening {
		text = strings.ToValidUTF8(text[:longestOpening], "") + "…"
	}
	return text
}

// report returns the report of what was found.
func (s *search) report() api.ForgetReport {
	r := api.ForgetReport{
		Events: len(s.found), Before: s.already, Kept: s.kept,
		Topics: []api.ForgetTopic{}, Sample: []api.ForgetSample{},
	}
	for _, h := range s.found {
		if n := len(r.Topics); n == 0 || r.Topics[n-1].Topic != h.pos.Topic {
			r.Topics = append(r.Topics, api.ForgetTopic{Topic: h.pos.Topic})
		}
		t := &r.Topics[len(r.Topics)-1]
		t.Events++
		t.Bytes += int64(h.bytes)
		r.Bytes += int64(h.bytes)
		if len(r.Sample) < maxSamples {
			r.Sample = append(r.Sample, h.sample)
		}
	}
	for _, text := range s.r.Events {
		if !s.met[text] {
			r.Missing = append(r.Missing, text)
		}
	}
	if s.kept > 0 {
		r.Explanation = "Commits' authors and messages and the commits that branches point at are kept, because later commits depend on them. Only contents of files are erased. Remove the secret from the repository's history, and import the result under another name (docs/operating.md, Forgetting)."
	}
	return r
}
