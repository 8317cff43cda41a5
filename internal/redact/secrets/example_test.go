package secrets_test

import (
	"fmt"

	"github.com/recountdb/recount/internal/redact/secrets"
)

func Example() {
	text, found := secrets.Default().Text("PGPASSWORD=hunter2 psql -h db && curl -u me:hunter2 http://api")
	fmt.Println(text)
	for _, f := range found {
		fmt.Println(f.Name, f.Bytes)
	}
	// Output:
	// PGPASSWORD=[redacted:password] psql -h db && curl -u me:[redacted:password] http://api
	// password 7
	// password 7
}
