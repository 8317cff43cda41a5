package render

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// Confirm asks the user for confirmation; without a terminal the answer is no.
func (t *Terminal) Confirm(question string, read bool) error {
	f, isFile := t.In.(*os.File)
	if read || !isFile || !term.IsTerminal(int(f.Fd())) {
		return fmt.Errorf("cannot ask for confirmation on the standard input: give --yes to erase")
	}
	fmt.Fprintf(t.Err, "%s [y/N] ", PlainText(question))
	line, err := bufio.NewReader(t.In).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return fmt.Errorf("nothing erased")
	}
	return nil
}
