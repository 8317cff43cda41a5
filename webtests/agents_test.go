package webtests

import "testing"

// told is what two agents state: a decision that is replaced, and two values that contradict each other.
const told = `{"specversion":"1.0","id":"d-1","source":"ann","type":"memory_stated","time":"2026-11-20T10:00:00Z","data":{"workspace":"/src/shop","agent":"ann","session":"one","text":"Carts are kept in memory.","memory":{"form":"decision"}}}
{"specversion":"1.0","id":"d-2","source":"ann","type":"memory_stated","time":"2026-11-20T11:00:00Z","data":{"workspace":"/src/shop","agent":"ann","session":"one","text":"Carts are kept in redis.","relations":[{"kind":"supersedes","event_id":"d-1"}],"memory":{"form":"decision"}}}
{"specversion":"1.0","id":"m-1","source":"ann","type":"memory_stated","time":"2026-11-20T11:10:00Z","data":{"workspace":"/src/shop","agent":"ann","session":"one","text":"Redis listens on 6379.","memory":{"subject":"redis","predicate":"port","value":"6379"}}}
{"specversion":"1.0","id":"m-2","source":"bob","type":"memory_stated","time":"2026-11-20T11:20:00Z","data":{"workspace":"/src/shop","agent":"bob","session":"two","text":"Redis listens on 6380 <script>alert(1)</script> \u202egnp.","memory":{"subject":"redis","predicate":"port","value":"6380"}}}
`

// TestFoundOut shows what was replaced and what is contradicted, narrows it by status and by agent, and
// shows hostile text as text. What another agent states meanwhile appears.
func TestFoundOut(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	p := s.page(t, 1280, 900)
	p.open("/agents", has("No agent is recorded yet"))
	p.axe()
	s.append(t, "agents", told)
	p.wait(has("Carts are kept in redis.")) // asked again by itself
	p.wait(has("replaced by") + " && " + has("contradicted by") + " && " + has("<script>alert(1)</script>") + " && " + has("RLO"))
	p.axe()
	p.golden("found-out")
	p.open("/agents?status=superseded", has("Carts are kept in memory.")+" && !"+has("Redis listens"))
	p.open("/agents?agent=bob", has("Redis listens on 6380")+" && !"+has("Carts are kept"))
	p.do(clickOn(".entries a[data-item]"))
	p.wait(has("Contradicted by") + ` && document.querySelector(".facts")`)
	p.axe()
}

// TestAgents shows the sessions of a trajectory, its steps, and one of its objects with its evidence.
func TestAgents(t *testing.T) {
	t.Parallel()
	p := sample(t).page(t, 1280, 900)
	p.open("/agents", `document.querySelector(".entries li")`)
	p.axe()
	p.open("/agents/sessions", `document.querySelector("tbody tr")`)
	p.axe()
	p.golden("sessions")
	p.do(clickOn("tbody a[data-item]"))
	p.wait(`document.querySelectorAll(".steps > li").length > 5`)
	p.axe()
	p.golden("session")
	p.do(clickOn(".steps .at-end a"))
	p.wait(`document.querySelector(".facts")`)
	p.axe()
	p.open("/agents/search?q=Networking", `document.querySelector(".rows a[data-item]")`)
	p.axe()
}
