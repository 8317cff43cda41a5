package commands_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

func (h *history) timeline(r commands.TimelineRequest) commands.TimelineResponse {
	h.t.Helper()
	r.AtLeast = h.next
	resp, err := commands.Timeline(h.t.Context(), h.sources(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp
}

// drawn writes what a page makes of the columns: a line a command.
func drawn(r commands.TimelineResponse) (lines []string) {
	at := r.Start
	for i, ms := range r.Times {
		at = at.Add(time.Duration(ms) * time.Millisecond)
		lines = append(lines, fmt.Sprintf("%s +%dms %d %s %s %s %s/%d", at.Format("15:04:05.000"), r.Durations[i], r.Outcomes[i],
			r.People[r.Who[i]], r.SessionNames[r.Sessions[i]], r.Categories[r.Category[i]], r.Partitions[r.Shards[i]], r.Offsets[i]))
	}
	return lines
}

func TestTimeline(t *testing.T) {
	h := newHistory(t)
	h.add(0, 1, `{"command":"make build","user":"ada","session":"s1","exit_code":0,"duration":"1.5s"}`)
	late := h.add(1, 2, `{"command":"kubectl apply -f a","author":"claude","user":"ada","session":"s2"}`)
	h.add(0, 3, `{"command":"make test","user":"ada","session":"s1","exit_code":2}`)
	shown, err := commands.Show(t.Context(), h.sources(), late.String())
	if err != nil {
		t.Fatal(err)
	}
	before := drawn(h.timeline(commands.TimelineRequest{}))
	h.add(1, 4, fmt.Sprintf(`{"command_event_id":%q,"exit_code":1,"duration":"2s"}`, shown.ID))
	all := []string{
		"00:01:00.000 +1500ms 0 ada s1 build recount.commands/0/0",
		"00:02:00.000 +2000ms 1 claude s2 deploy recount.commands/1/0",
		"00:03:00.000 +-1ms 1 ada s1 build recount.commands/0/1",
	}
	if diff := cmp.Diff([]string{all[0], "00:02:00.000 +-1ms -1 claude s2 deploy recount.commands/1/0", all[2]}, before); diff != "" {
		t.Errorf("before its outcome was seen (-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		r    commands.TimelineRequest
		want []string
	}{
		"all":                {commands.TimelineRequest{}, all},
		"the newest":         {commands.TimelineRequest{Limit: 2}, all[1:]},
		"of a range":         {commands.TimelineRequest{Filters: commands.Filters{Since: epoch.Add(2 * time.Minute), Until: epoch.Add(3 * time.Minute)}}, all[1:2]},
		"of one person":      {commands.TimelineRequest{Filters: commands.Filters{Author: "claude"}}, all[1:2]},
		"failed":             {commands.TimelineRequest{Filters: commands.Filters{Exit: "fail"}}, all[1:]},
		"as of the second":   {commands.TimelineRequest{Moment: query.Moment{AsOf: query.AsOf{Time: epoch.Add(2 * time.Minute)}}}, []string{all[0], before[1]}},
		"below some offsets": {commands.TimelineRequest{Moment: query.Moment{AsOf: query.AsOf{Offsets: schemas.Watermark{{Topic: "recount.commands", Partition: 0}: 1}}}}, all[:1]},
		"none":               {commands.TimelineRequest{Filters: commands.Filters{Session: "s3"}}, nil},
	} {
		got := h.timeline(c.r)
		if diff := cmp.Diff(c.want, drawn(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (got.Status == query.StatusEmpty) != (c.want == nil) || got.Truncated != (c.r.Limit == 2) || len(got.Proof) == 0 {
			t.Errorf("%s: status %s, truncated %t, proof %v", name, got.Status, got.Truncated, got.Proof)
		}
	}
}

func TestTimelineRefuses(t *testing.T) {
	var re *query.RequestError
	for _, r := range []commands.TimelineRequest{{Limit: commands.MaxTimeline + 1}, {Limit: -1}, {Filters: commands.Filters{Exit: "x"}}} {
		if _, err := r.Normal(); !errors.As(err, &re) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
