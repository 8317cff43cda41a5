package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// migrations are rules about frameworks and tools that change a database for a project.
var migrations = []rule{
	{"database", "rails", some(exactly("db:seed:replant db:migrate:down"), all(exactly("runner r"), matching(`\.(delete_all|destroy_all|drop_table|truncate)`))), "it removes data from a database"},
	{"database", "rails,rake,artisan,console,php,mix,alembic,sequelize,sequelize-cli,knex,typeorm,flask,prisma,drizzle-kit,manage.py,django-admin,python,python3,flyway,liquibase,goose,dbmate,migrate,sqlx,atlas,diesel", all(inProduction, matching(`^(up$|db:(migrate|seed|setup|create|schema:load|rollback)\b|migrate|upgrade|ecto\.migrate|doctrine:migrations:migrate|runner)`), not(matching(`:status$`))), "it changes a database that is in production"},
	{"database", "manage.py,django-admin,python,python3", all(exactly("migrate"), exactly("zero")), "it removes data from a database"},
	{"database", "artisan,php", all(exactly("migrate"), flag("--force")), "it changes a database without asking, as in production"},
	{"database", "console,php", all(matching(`^doctrine:schema:update$`), flag("--force --complete")), "it changes a database without asking"},
	{"database", "dotnet ef", all(exactly("database"), exactly("drop 0")), "it removes data from a database"},
	{"database", "dotnet ef", all(exactly("database"), exactly("update"), matching(`(?i)\b(server|host|data source)=(tcp:)?[\w-]+\.`), not(matching(`(?i)=(tcp:)?(127\.|localhost)`))), "it changes a database of another machine"},
	{"database", "liquibase,flyway,alembic", matching(`(?i)^(rollback(-?(count|to-?date|one-?changeset|one-?update))?|undo)$`), "it removes data from a database"},
	{"database", `flyway,liquibase,goose,dbmate,migrate,sqlx,sqitch,atlas,knex,prisma,diesel,tern,refinery,mongoimport,mongorestore,mysqlimport,pgloader,pgbench,
		pg_restore,elasticdump,bcp,sqlpackage`, all(storesAway, not(matching(`(?i)(sql|changelog|diff|snapshot|status|validate|history|info|inspect|lint|version|dump|pull|^out|^queryout)$`))), "it changes a database of another machine"},
	{"database", "pt-online-schema-change,pt-archiver,pt-table-sync,pt-kill,gh-ost", flag("--execute --purge --kill"), "it changes a database others use"},
	{"database", "influx write", callsAway, "it changes a database of another machine"},
	{"database", "isql,isql-fb", all(flag("-i -input"), matching(`^[\w.-]+[:/]`)), "it changes a database of another machine"},
	{"database", "sqlplus", all(matching(`^@`), matching(`\w@`)), "it runs statements that are in a file"},
	{"database", "psql,mysql,mariadb,mongosh,mongo,cockroach", all(urlVariable, some(flag("-f --file"), (*call).readsMore)), "it changes a database that only the run knows"},
	{"database", "pg_ctl", all(exactly("stop restart kill promote"), not(dataInside)), "it stops a database"},
	{"database", "initdb", all(flag("-D --pgdata"), not(dataInside)), "it makes a database where something may be"},
	{"database", "pg_ctlcluster", exactly("stop restart promote"), "it stops a database"},
	{"database", "pg_upgrade,pg_rewind,pg_createsubscriber", not(flag("-c --check -n --dry-run --help --version")), "it changes the files of a database"},
	{"database", "redis-cli,valkey-cli", some(all(matchingFold("cluster"), matchingFold("reset forget failover")), all(exactly("--cluster"), exactly("del-node rebalance reshard fix create add-node call import"))), "it changes a cluster of databases"},
	{"database", "dbt", all(exactly("run build seed snapshot run-operation clone"), some(flag("--full-refresh -f"), matching(`^(--target=)?prod`))), "it changes a warehouse others use"},
	{"database", "airflow dags,airflow db,airflow variables,airflow connections,airflow pools,airflow tasks,airflow users", exactly("trigger delete backfill reset clean downgrade set import clear"), "it starts or removes work of others"},
	{"database", "php,occ,drush,magento,console,craft,spark,yii,tootctl,n98-magerun,n98-magerun2", all(consoleChanges, not(flag("--dump-sql"))), "it changes a site, or what its users have"},
	{"database", "occ", all(exactly("maintenance:mode"), flag("--on")), "it stops a site"},
	{"database", "sqlpackage", all(matching(`(?i)^[/-]a(ction)?:(publish|import)$`), not(matching(`(?i)^[/-](tsn|targetservername|tcs|targetconnectionstring):.*(localhost|\(local|127\.|\.$)`))), "it changes a database of another machine"},
	{"database", "manage.py,django-admin,python,python3,artisan,php", matching(`\.objects\.[\w().=, '"]*\.delete\(\)|\b[A-Z]\w*::(\w+\([^)]*\)->)*(truncate|delete|destroy)\(|->(truncate|forceDelete)\(`), "it removes data from a database"},
	{"database", "wp", all(some(flag("--ssh --http"), matching(`^@\w`)), matching(`^(update|install|activate|create|set|add|remove|flush|regenerate|edit|patch|switch|set-role|reset-password|run)$`)), "it changes a site of others"},
	{"database", "wp", exactly("delete deactivate uninstall reset drop search-replace import"), "it removes data of a site"},
	{"database", "drush", matching(`^(sql[:-](drop|sync|sanitize)|site[:-]install|si|pm[:-]uninstall|pmu|entity:delete|user:cancel|config[:-]import|cim|rsync)$`), "it removes data of a site"},
}

var (
	schemaName  = lazyregexp.New(`^((db|database|ecto|schema|migrations?|migrate|sql|doctrine|orm)[:.-]([\w-]+[:.-])*(drop|reset|purge|wipe|truncate\w*|fresh|refresh|rollback|revert|undo|nuke|zap|flush)([:.-]\w+)*|(drop|reset|wipe|nuke|truncate)[:._-](db|database|schema|tables))$`)
	schemaGroup = words("db database databases schema migrate migration migrations ecto")
	schemaVerb  = words("drop reset purge wipe truncate fresh refresh revert nuke undo redo")
)

// dropsSchema reports whether the words of a call, whatever its program, say that a schema is dropped or taken
// back: db:drop, ecto.reset, database drop, migrate fresh.
func (c *call) dropsSchema() bool {
	if c.Wraps || c.Name == "git" || c.Name != "php" && textPrograms[c.Name] || files[c.Name] || slices.Contains(c.place.Own, c.Name) || c.asks() || harmless(c) {
		return false
	}
	ws := c.toldWords()
	for i, w := range ws {
		if i > 0 && schemaGroup[ws[i-1]] && schemaVerb[w] {
			return true
		}
	}
	if storesAway(c) && slices.ContainsFunc(ws, func(w string) bool { return takesBack[w] }) {
		return true
	}
	return c.names(schemaName.MatchString)
}

// takesBack are words that change a whole database which an address names.
var takesBack = words("down drop reset flush truncate rollback undo migrate restore import seed load up")

// inProduction reports whether a call is told to work on what is in production, by a variable or a flag.
func inProduction(c *call) bool {
	isProduction := func(s string) bool {
		s = s[strings.LastIndex(s, ".")+1:] // shop.settings.production
		return s == "production" || s == "prod"
	}
	for _, v := range slices.Concat(c.Assigns, c.line.Assigned) {
		if strings.HasSuffix(v.Name, "ENV") && isProduction(v.Value.Value) {
			return true
		}
	}
	if away, ok := c.storeVariable(); ok && away {
		return true
	}
	for i, w := range c.Args {
		_, value, ok := strings.Cut(w.Value, "=")
		if !ok && i > 0 && strings.HasPrefix(c.Args[i-1].Value, "-") {
			value = w.Value
		}
		if isProduction(value) {
			return true
		}
	}
	return false
}

// inTest reports whether a variable of a call says that it works on what tests make anew.
func inTest(c *call) bool {
	return slices.ContainsFunc(slices.Concat(c.Assigns, c.line.Assigned), func(v shell.Variable) bool {
		return (v.Name == "RAILS_ENV" || v.Name == "RACK_ENV") && v.Value.Value == "test"
	}) && !inProduction(c)
}

// builtHere are groups of a console about what is made again from the project.
var builtHere = words("cache config view route optimize event assets asset twig queue schedule debug make lint di static setup router container env")

// consoleChanges reports whether a word with colons tells the console of a site to change what it keeps: php occ
// user:delete.
func consoleChanges(c *call) bool {
	ws := shell.Operands(c.Args, "-d -c")
	if c.Name == "php" {
		if len(ws) == 0 || strings.HasSuffix(ws[0].Value, ".php") {
			return false
		}
		ws = ws[1:]
	}
	if len(ws) == 0 || !strings.Contains(ws[0].Value, ":") || !bareWord.MatchString(ws[0].Value) {
		return false
	}
	parts := wordParts(ws[0].Value)
	if len(parts) < 2 || builtHere[parts[0]] && !colonChanges[parts[len(parts)-1]] || parts[0] == "make" {
		return false
	}
	last := parts[len(parts)-1]
	return verbs[last].weight > 0 || verbs[parts[1]].weight > 0 || colonChanges[last] || exactly("--on")(c) || compound.MatchString(last)
}

// storesAway reports whether a call names a database of another machine, in a host's flag or in an address,
// also one of JDBC.
func storesAway(c *call) bool {
	if c.reachesAway([]string{"-h", "--host", "-S", "--server", "--uri", "--url", "-url", "--database-url", "-database", "-a", "--alpha", "--address", "--addr"}) {
		return true
	}
	return c.namesJDBC()
}

// namesJDBC reports whether an address of JDBC names a database of another machine.
func (c *call) namesJDBC() bool {
	for _, w := range c.Args {
		if _, rest, ok := strings.Cut(w.Value, "jdbc:"); ok && strings.Contains(rest, "//") && !loopback(rest[strings.Index(rest, "//")+2:]) {
			return true
		}
	}
	return false
}

var isURLVariable = lazyregexp.New(`^\$\{?\w*(URL|URI|DSN|DATABASE|PROD)\w*\}?$`)

// urlVariable reports whether an operand is a variable that holds an address.
func urlVariable(c *call) bool {
	for _, w := range c.Args {
		if w.Dynamic && isURLVariable.MatchString(w.Value) {
			return true
		}
	}
	return false
}

// readsMore reports whether a client is fed statements that are not in the line.
func (c *call) readsMore() bool { return c.Fed && c.Document == nil }

// dataInside reports whether the directory of a database is below the tree.
func dataInside(c *call) bool {
	w, ok := c.FlagValue("-D", "--pgdata")
	return ok && !c.outside(w, true)
}
