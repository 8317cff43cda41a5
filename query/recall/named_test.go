package recall

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// states adds something to be remembered.
func (w *world) states(form, text string, about ...string) {
	w.t.Helper()
	m := &recountv1.AgentEvent{Text: text, Memory: &recountv1.Statement{Form: form}}
	for _, s := range about {
		m.Relations = append(m.Relations, &recountv1.Relation{Kind: "refers_to", Ref: s})
	}
	w.add(schemas.TypeMemoryStated, m)
}

// TestWhatAPromptNames checks that decisions about a file or a symbol that a prompt names are told, however young the
// workspace and however often the thing is worked on: they were silent.
func TestWhatAPromptNames(t *testing.T) {
	w := newWorld(t)
	w.states("decision", "Amounts are int64 cents, never float: rounding cost us a week", "file:src/invoice_writer.go")
	w.states("fact", "Totals are rounded once, at the end", "symbol:shop.InvoiceTotal")
	w.states("note", "the coffee machine is broken", "file:src/invoice_writer.go")
	ask := func(text string) string { return w.recall(Request{Session: "now", Text: text}).Text }
	check := func(when string) {
		t.Helper()
		for _, text := range []string{"use float64 in src/invoice_writer.go", "open invoice_writer.go", "what does `/src/shop/src/invoice_writer.go:41` do?"} {
			if got := ask(text); !strings.Contains(got, "] Decision about what the prompt names") || !strings.Contains(got, "> Amounts are int64") || !strings.Contains(got, "> about src/invoice_writer.go") || strings.Contains(got, "coffee") {
				t.Errorf("%s: %q: %q", when, text, got)
			}
		}
		for _, text := range []string{"rename InvoiceTotal", "does shop.InvoiceTotal() round?"} {
			if got := ask(text); !strings.Contains(got, "> Totals are rounded once") {
				t.Errorf("%s: %q: %q", when, text, got)
			}
		}
		for _, text := range []string{"the invoice writer is slow", "the invoice total", "InvoiceTotals", "other_invoice_writer.go", "invoice_writer.gob", "yes, go on"} {
			if got := ask(text); strings.Contains(got, "what the prompt names") {
				t.Errorf("%s: %q names nothing: %q", when, text, got)
			}
		}
	}
	check("a young workspace")
	for i := range 8 {
		w.session = fmt.Sprint("s", i)
		w.prompted("make InvoiceTotal in invoice_writer.go faster")
		w.said("I changed InvoiceTotal in src/invoice_writer.go, and the tests of invoice_writer.go pass again now.")
	}
	check("after eight sessions")
}

// TestWhatIsWorkedOnOften checks that the answer to a question is told again after many sessions about its subject, and
// not at a prompt that only names it.
func TestWhatIsWorkedOnOften(t *testing.T) {
	w := newWorld(t)
	for i := range 8 {
		w.session = fmt.Sprint("s", i)
		if i == 2 {
			w.prompted("why does ParsePrice reject a comma in prices?")
			w.said("ParsePrice rejects a comma because the locale of the server is C: prices with a comma are only accepted by ParseLocal.")
			continue
		}
		w.prompted(fmt.Sprintf("change ParsePrice: step %d of the plan", i))
		w.said(fmt.Sprintf("ParsePrice now does step %d, and its tests pass.", i))
	}
	if got := w.recall(Request{Session: "now", Text: "ParsePrice rejects prices with a comma: why?"}); !strings.Contains(got.Text, "the locale of the server is C") {
		t.Errorf("%q %s", got.Text, got.Hint)
	}
	if got := w.recall(Request{Session: "now", Text: "document ParsePrice for translators in the handbook"}); got.Text != "" {
		t.Errorf("another matter: %q", got.Text)
	}
}

// TestBriefSaysWhatIsMostUseful checks what comes first in a brief, and that each item says what it is.
func TestBriefSaysWhatIsMostUseful(t *testing.T) {
	w := newWorld(t)
	w.states("decision", "Money is int64 cents", "file:cart.go")
	for i := range 6 {
		w.states("note", fmt.Sprint("Note ", i, ": coffee"))
	}
	w.add(schemas.TypeHandoff, &recountv1.AgentEvent{Text: "Finish step 3", Handoff: &recountv1.Handoff{ToAgent: "codex", Reason: "Finish step 3"}})
	w.add(schemas.TypeTaskStarted, &recountv1.AgentEvent{Task: &recountv1.Task{Id: "SHOP-7", Title: "Rotate the staging key"}})
	w.add(schemas.TypeWorkAnnounced, &recountv1.AgentEvent{Text: "it moves", Announcement: &recountv1.Announcement{Subject: "symbol:shop.Cart"}})
	w.add(schemas.TypeMemoryStated, &recountv1.AgentEvent{Text: "Staging is frozen", Memory: &recountv1.Statement{Form: "fact"}, ValidUntil: timestamppb.New(epoch.AddDate(0, 0, 3))})
	got := w.brief(BriefRequest{Agent: "codex", Session: "s9"})
	at := -1
	for _, want := range []string{
		"Handed over, open until recount handover --accept recount.agents/0/", "> Finish step 3", "> to codex", "> SHOP-7: Rotate the staging key\n", "Announced work, until ", "> works on shop.Cart: it moves",
		"Fact, until 2026-11-23", "> Staging is frozen", "Decision (", "> Money is int64 cents", "> about cart.go", "Note (", "> Note 5: coffee",
	} {
		i := strings.Index(got.Text, want)
		if i < at {
			t.Errorf("%q is missing, or comes too early in\n%s", want, got.Text)
		}
		at = max(at, i)
	}
	if strings.Count(got.Text, "coffee") != briefNotes || got.Tokens > BriefTokens {
		t.Errorf("%d tokens\n%s", got.Tokens, got.Text)
	}
	if other := w.brief(BriefRequest{Agent: "gemini", Session: "s9"}); strings.Contains(other.Text, "Finish step 3") {
		t.Errorf("a handover to another agent:\n%s", other.Text)
	}
	handover := ""
	for _, x := range got.Items {
		if x.Kind == KindHandover {
			handover = x.ID
		}
	}
	if handover == "" {
		t.Fatal("no handover")
	}
}

// TestFailuresOfRunnersAndLanguages checks that lines of npm and make that name something are met again, also in another
// language, and lines that only relay a failure are not.
func TestFailuresOfRunnersAndLanguages(t *testing.T) {
	for _, output := range []string{
		"npm error code ERESOLVE\nnpm error Found: react@19.0.0\nnpm error peer react@\"^18\" from @mui/lab@5.0.0",
		"npm ERR! Missing script: \"biuld\"",
		"make: *** No rule to make target 'frob.o', needed by 'all'.  Stop.",
		"make: *** Keine Regel, um „frob.o“ zu erstellen.  Schluss.",
		"frob.c:3:5: Fehler: »frobnicate« nicht deklariert (erste Verwendung)",
		"bash: frobnicate: Kommando nicht gefunden.",
		"frob.c:3:5: erreur: « frobnicate » non déclaré (première utilisation)",
		"cat: lire_moi.txt: Aucun fichier ou dossier de ce type",
		"main.c:3:5: ошибка: «frobnicate» не описан в этой области",
	} {
		w := newWorld(t)
		w.ran("build it", 2, output)
		w.edited("/src/shop/Makefile", "x", "frobnicate is there now")
		w.ran("build it", 0, "ok")
		if got := w.recall(Request{On: OnFailure, Session: "now", Command: "build it", Output: output}); len(got.Items) != 1 {
			t.Errorf("%q: %s", output, got.Hint)
		}
	}
	for _, line := range []string{
		"make: *** [Makefile:3: all] Error 1", "make[2]: *** [sub] Fehler 2", "npm error code ELIFECYCLE", "npm ERR! errno 1", "npm error Lifecycle script `test` failed with error:",
		"npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-30T12_00_00_000Z-debug-0.log", "npm error To see a list of scripts, run:",
	} {
		if got := marksOf(line); len(got) > 0 {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

// TestTheSameNameInAnotherFile checks that a name that is missing is recognised in another file of the package, and
// another name in the same file is not.
func TestTheSameNameInAnotherFile(t *testing.T) {
	w := newWorld(t)
	w.ran("go test ./shop", 1, "shop/cart_test.go:8:3: undefined: NormalizeDecimal")
	w.edited("/src/shop/decimal.go", "x", "func NormalizeDecimal")
	w.ran("go test ./shop", 0, "ok")
	r := Request{On: OnFailure, Session: "now", Command: "go test ./shop", Output: "shop/price_test.go:18:9: undefined: NormalizeDecimal"}
	if got := w.recall(r); len(got.Items) != 1 {
		t.Errorf("another file: %s", got.Hint)
	}
	r.Output = "shop/cart_test.go:8:3: undefined: RoundDecimal"
	if got := w.recall(r); len(got.Items) != 0 {
		t.Errorf("another name: %s", got.Text)
	}
}
