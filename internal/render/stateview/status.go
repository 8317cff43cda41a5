// Package stateview prints how a node stands.
package stateview

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/state"
	"github.com/recountdb/recount/schemas"
)

// Status prints how the log and the projections stand. local reports that no server answered.
func Status(term *render.Terminal, st state.Status, local bool, now time.Time) {
	who := fmt.Sprintf("a server, pid %d, up %s", st.PID, query.Took(now.Sub(st.Started)))
	if local {
		who = "no server runs; this command opened the data directory"
	}
	term.Printf("%s  %s\n", term.Paint(render.Bold, term.Home(st.DataDir)), term.Paint(render.Dim, "("+who+", recount "+st.Version+")"))
	logOf(term, st)
	Spool(term, st.Spool)
	if t := st.Tokens; t != nil {
		term.Printf("tokens       %s in %s\n", render.Thousands(t.InForce), term.Home(t.File))
		for _, wrong := range t.Mistakes {
			term.Printf("             %s\n", term.Paint(render.Red, "not in force: "+render.OneLine(wrong)))
		}
	}
	watched(term, st.Watch)
	commandsOf(term, st.Intents)
	for n, p := range st.Projections {
		name := ""
		if n == 0 {
			name = "projections"
		}
		term.Printf("%-12s %s\n", name, projection(p))
	}
}

// logOf prints what the log holds, and what is wrong with it.
func logOf(term *render.Terminal, st state.Status) {
	var total int64
	byTopic := map[string]int64{}
	for at, end := range st.Log.Ends {
		total += end
		byTopic[at.Topic[strings.LastIndexByte(at.Topic, '.')+1:]] += end
	}
	term.Printf("\nlog          %s events, %s\n", render.Thousands(total), st.Log.Kind)
	var topics []string
	for _, name := range slices.Sorted(maps.Keys(byTopic)) {
		if byTopic[name] > 0 {
			topics = append(topics, name+" "+render.Thousands(byTopic[name]))
		}
	}
	if len(topics) > 0 {
		term.Printf("             %s\n", strings.Join(topics, ", "))
	}
	if st.Log.Bytes > 0 {
		term.Printf("             %s\n", strings.TrimPrefix(onDisk(st.Log.Bytes), ", "))
	}
	if st.Log.Full != "" {
		term.Printf("             %s\n", term.Paint(render.Red, "nothing can be appended: "+render.OneLine(st.Log.Full)))
	}
	if len(st.Log.Brokers) > 0 {
		term.Printf("             Kafka clients connect to %s\n", strings.Join(st.Log.Brokers, ", "))
	}
	if st.Log.Rejected > 0 {
		term.Printf("             %s\n", term.Paint(render.Yellow, render.Thousands(st.Log.Rejected)+" rejected: recount log tail --topic rejected"))
	}
	for _, tp := range st.Log.Unread {
		term.Printf("             %s\n", term.Paint(render.Red, "no process reads "+tp+": its events are not seen"))
	}
	if since := st.Log.SpansSince; since != nil {
		term.Printf("             spans are known since %s: for earlier ones there are hourly sums\n", since.Local().Format(time.DateTime))
		if sums := st.Log.SumsSince; sums != nil {
			term.Printf("             sums are known since %s\n", sums.Local().Format(time.DateTime))
		}
	}
	for _, k := range []struct {
		what  string
		since *time.Time
	}{{"commands", st.Log.CommandsSince}, {"agents' events", st.Log.AgentsSince}} {
		if k.since != nil {
			term.Printf("             %s are known since %s: retention removed those received earlier\n", k.what, k.since.Local().Format(time.DateTime))
		}
	}
	if st.Log.Error != "" {
		term.Printf("             %s\n", term.Paint(render.Red, st.Log.Error))
	}
	if e := st.Erasing; e != nil {
		far := e.Phase
		if e.Total > 0 {
			far = fmt.Sprintf("%s, %s of %s", e.Phase, render.Thousands(e.Done), render.Thousands(e.Total))
		}
		term.Printf("             %s\n", term.Paint(render.Yellow, fmt.Sprintf("erasing %s, no longer shown in any answer: %s", render.Count(e.Events, "event"), far)))
	}
}

// watched prints the repositories that the server watches.
func watched(term *render.Terminal, all []state.WatchStatus) {
	for n, w := range all {
		label, said := "watching", term.Home(w.Path)
		if n > 0 {
			label = ""
		}
		switch {
		case w.Error != "":
			said += ": " + term.Paint(render.Red, render.OneLine(w.Error))
		case w.Synced == nil:
			said += ": being imported"
		default:
			said += fmt.Sprintf(", %s since the start, up to date at %s", render.Count(int(w.Commits), "commit"), w.Synced.Local().Format(time.DateTime))
		}
		term.Printf("%-12s %s\n", label, said)
	}
}

// commandsOf prints how many commands are known, and how the newest went.
func commandsOf(term *render.Terminal, i state.IntentStatus) {
	term.Printf("commands     %s\n", render.Thousands(i.Count))
	if r := i.Recent; r.Commands > 0 {
		term.Printf("             of the newest %s: %s ok, %s failed, %s unknown", render.Thousands(r.Commands), render.Thousands(r.OK), render.Thousands(r.Failed), render.Thousands(r.Unknown))
		if r.OK+r.Failed > 0 {
			term.Printf(" (%.1f %% of those known failed)", 100*r.FailureRate)
		}
		term.Printf("\n")
	}
	if i.Oldest != nil && i.Newest != nil {
		term.Printf("             %s\n", span(*i.Oldest, *i.Newest))
	}
	for _, sh := range i.Shards {
		term.Printf("             %s/%d: %s, %s of them not sealed yet, %s\n", sh.Topic, sh.Partition, render.Thousands(sh.Count), render.Thousands(sh.Hot), span(sh.Oldest, sh.Newest))
	}
}

// span says from when to when commands ran.
func span(oldest, newest time.Time) string {
	if schemas.TimeUnknown(newest) {
		return "at times unknown"
	}
	return fmt.Sprintf("from %s to %s", render.When(oldest, time.DateTime), newest.Local().Format(time.DateTime))
}

// projection says how far a projection is, and how large.
func projection(p state.ProjectionStatus) string {
	line := fmt.Sprintf("%s, up to date", p.Name)
	if p.Lag > 0 {
		line = fmt.Sprintf("%s, %s events behind", p.Name, render.Thousands(p.Lag))
	}
	if p.Segments > 0 {
		line += fmt.Sprintf(", %d sealed segments", p.Segments)
	}
	if len(p.Shards) > 0 {
		var commands, vectors, files int64
		for _, sh := range p.Shards {
			commands, vectors, files = commands+int64(sh.Commands), vectors+int64(sh.Vectors), files+int64(sh.Files)
		}
		line += fmt.Sprintf(", %s distinct vectors of %s commands, %s sealed files", render.Thousands(vectors), render.Thousands(commands), render.Thousands(files))
	}
	line += onDisk(p.Bytes)
	if p.Root != nil {
		line += ", root " + p.Root.String()
	}
	return line
}

// Spool prints the state of the spool if entries wait or something is wrong.
func Spool(t *render.Terminal, s state.SpoolStatus) {
	var lines []string
	say := func(colour, format string, args ...any) {
		lines = append(lines, t.Paint(colour, render.PlainText(fmt.Sprintf(format, args...))))
	}
	if s.Waiting > 0 {
		say(render.Yellow, "%s recorded but not in the log yet", render.Thousands(int64(s.Waiting)))
	}
	for _, to := range s.Servers {
		say(render.Yellow, "%s to be sent to %s", render.Thousands(int64(to.Waiting)), to.URL)
	}
	if s.Fault != "" {
		say(render.Red, "%s", s.Fault)
	}
	file := func(name string) string { return t.Home(filepath.Join(s.Dir, name)) }
	if s.Lost > 0 {
		say(render.Red, "%s commands were not recorded, the last %s, because nothing could be written; remove %s to dismiss this", render.Thousands(s.Lost), s.LastLost.Local().Format(time.DateTime), file("lost"))
	}
	if s.DamagedBytes > 0 {
		say(render.Red, "%s bytes could not be read and were moved to %s", render.Thousands(s.DamagedBytes), file("damaged"))
	}
	if s.Refused > 0 {
		say(render.Red, "the log cannot accept %s entries: they are in %s with the reason", render.Thousands(int64(s.Refused)), file("refused"))
	}
	for i, line := range lines {
		name := ""
		if i == 0 {
			name = "spool"
		}
		t.Printf("%-12s %s\n", name, line)
	}
}

// onDisk formats disk usage, "" if it is unknown.
func onDisk(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f MB on disk", float64(bytes)/1e6)
}
