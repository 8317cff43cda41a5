package webtests

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// clickOn clicks the first element of a selector.
func clickOn(selector string) step {
	return chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible)
}

// typeInto puts text into a field, in place of what it has, key by key.
func typeInto(selector, text string) step {
	return chromedp.Steps(
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{const e = document.querySelector(%q); e.focus(); e.select();}`, selector)),
		chromedp.KeyEvent(text))
}

func pressEnter() step { return chromedp.KeyEvent(kb.Enter) }

// tokenFile writes a token into a file.
func tokenFile(t *testing.T, token string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// focusOn gives an element the focus.
func focusOn(selector string) step {
	return chromedp.Focus(chromedp.CSS(selector))
}
