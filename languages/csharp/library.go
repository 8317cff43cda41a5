package csharp

// library has classes of System and its collections, with the methods of LINQ, in the format of
// typed.Language.Library. Func and Action differ by their number of type arguments.
const library = structs + `
class System.Object
String ToString()
bool Equals(Object)
static bool Equals(Object,Object)
int GetHashCode()
Type GetType()
static bool ReferenceEquals(Object,Object)
Object MemberwiseClone()
class System.Type : MemberInfo
.FullName String
.Namespace String
.AssemblyQualifiedName String
.Assembly Assembly
.BaseType Type
.IsGenericType bool
.IsEnum bool
.IsInterface bool
.IsValueType bool
.IsArray bool
.GenericTypeArguments Type[]
extension TypeInfo GetTypeInfo()
Type GetElementType()
Type GetGenericTypeDefinition()
Type[] GetGenericArguments()
Type[] GetInterfaces()
Type GetInterface(String)
Type MakeGenericType(Type...)
Type MakeArrayType()
PropertyInfo GetProperty(String)
PropertyInfo GetProperty(String,Object)
PropertyInfo[] GetProperties()
PropertyInfo[] GetProperties(Object)
FieldInfo GetField(String)
FieldInfo GetField(String,Object)
FieldInfo[] GetFields()
FieldInfo[] GetFields(Object)
MethodInfo GetMethod(String)
MethodInfo GetMethod(String,Object)
MethodInfo[] GetMethods()
MethodInfo[] GetMethods(Object)
ConstructorInfo GetConstructor(Type[])
ConstructorInfo[] GetConstructors()
ConstructorInfo[] GetConstructors(Object)
MemberInfo[] GetMembers()
bool IsAssignableFrom(Type)
bool IsSubclassOf(Type)
bool IsInstanceOfType(Object)
interface System.IComparable<T>
abstract int CompareTo(T)
interface System.IEquatable<T>
abstract bool Equals(T)
interface System.IDisposable
abstract void Dispose()
interface System.IAsyncDisposable
abstract ValueTask DisposeAsync()
interface System.IServiceProvider
abstract Object GetService(Type)
class System.String : IEnumerable<char>, IComparable<String>
.Length int
.Empty String
ReadOnlySpan<char> AsSpan()
ReadOnlySpan<char> AsSpan(int)
ReadOnlySpan<char> AsSpan(int,int)
String Trim()
String ToLower()
String ToUpper()
String ToLowerInvariant()
String ToUpperInvariant()
String Substring(int)
String Substring(int,int)
String Replace(String,String)
String[] Split(char...)
String[] Split(char,Object)
String[] Split(char[],Object)
String[] Split(String,Object)
String[] Split(String[],Object)
String Trim(char...)
String TrimStart(char...)
String TrimEnd(char...)
String Replace(char,char)
String Replace(String,String,Object)
String PadLeft(int)
String PadLeft(int,char)
String PadRight(int)
String PadRight(int,char)
String Insert(int,String)
String Remove(int)
String Remove(int,int)
String Normalize()
String ToUpper(CultureInfo)
String ToLower(CultureInfo)
char[] ToCharArray()
int LastIndexOf(String)
int LastIndexOf(char)
int IndexOf(char)
int IndexOf(String,Object)
int CompareTo(String)
bool StartsWith(String,Object)
bool EndsWith(String,Object)
bool Equals(String)
bool Equals(String,Object)
static int Compare(String,String)
static bool Equals(String,String,Object)
static String Format(Object,String,Object...)
static String Join(char,Object...)
static <T> String Join(String,IEnumerable<T>)
bool StartsWith(String)
bool EndsWith(String)
bool Contains(String)
int IndexOf(String)
static bool IsNullOrEmpty(String)
static bool IsNullOrWhiteSpace(String)
static String Format(String,Object...)
static String Join(String,Object...)
static String Concat(Object...)
class System.Exception
.Message String
.InnerException Exception
.StackTrace String
class System.Delegate
.Method MethodInfo
.Target Object
interface System.Func1<R> : Delegate
abstract R Invoke()
interface System.Func2<A,R> : Delegate
abstract R Invoke(A)
interface System.Func3<A,B,R> : Delegate
abstract R Invoke(A,B)
interface System.Func4<A,B,C,R> : Delegate
abstract R Invoke(A,B,C)
interface System.Action : Delegate
abstract void Invoke()
interface System.Action1<A> : Delegate
abstract void Invoke(A)
interface System.Action2<A,B> : Delegate
abstract void Invoke(A,B)
interface System.Action3<A,B,C> : Delegate
abstract void Invoke(A,B,C)
interface System.Action4<A,B,C,D> : Delegate
abstract void Invoke(A,B,C,D)
interface System.Func5<A,B,C,D,R> : Delegate
abstract R Invoke(A,B,C,D)
interface System.Func6<A,B,C,D,E,R> : Delegate
abstract R Invoke(A,B,C,D,E)
interface System.Predicate<T> : Delegate
abstract bool Invoke(T)
interface System.Comparison<T> : Delegate
abstract int Invoke(T,T)
interface System.EventHandler<T> : Delegate
abstract void Invoke(Object,T)
class System.Lazy<T>
.Value T
.IsValueCreated bool
class System.Threading.ThreadLocal<T>
.Value T
class System.Threading.AsyncLocal<T>
.Value T
class System.WeakReference<T>
bool TryGetTarget(T)
class System.Tuple
static <A> Tuple1<A> Create(A)
static <A,B> Tuple2<A,B> Create(A,B)
static <A,B,C> Tuple3<A,B,C> Create(A,B,C)
static <A,B,C,D> Tuple4<A,B,C,D> Create(A,B,C,D)
class System.Tuple1<A>
.Item1 A
class System.Tuple2<A,B>
.Item1 A
.Item2 B
class System.Tuple3<A,B,C>
.Item1 A
.Item2 B
.Item3 C
class System.Tuple4<A,B,C,D>
.Item1 A
.Item2 B
.Item3 C
.Item4 D
class System.ValueTuple2<A,B>
.Item1 A
.Item2 B
class System.ValueTuple3<A,B,C>
.Item1 A
.Item2 B
.Item3 C
class System.ValueTuple4<A,B,C,D>
.Item1 A
.Item2 B
.Item3 C
.Item4 D
class System.DateTime
.Now DateTime
.UtcNow DateTime
.Today DateTime
.Year int
.Month int
.Day int
.Hour int
.Minute int
.Second int
.Ticks long
.Date DateTime
.TimeOfDay TimeSpan
class System.DateTimeOffset
.Now DateTimeOffset
.UtcNow DateTimeOffset
.DateTime DateTime
.Year int
.Ticks long
.Offset TimeSpan
class System.TimeSpan
.Zero TimeSpan
.Ticks long
.Days int
.Hours int
.Seconds int
.Milliseconds int
.TotalMilliseconds double
.TotalSeconds double
static TimeSpan FromSeconds(double)
static TimeSpan FromMilliseconds(double)
static TimeSpan FromMinutes(double)
class System.Guid
.Empty Guid
static Guid NewGuid()
class System.Uri
.AbsolutePath String
.AbsoluteUri String
.Host String
.Query String
.Scheme String
.OriginalString String
class System.Attribute
class System.Activator
static <T> T CreateInstance()
static Object CreateInstance(Type)
static Object CreateInstance(Type,Object...)
class System.Enum
class System.StringComparer
class System.StringComparison
class System.Text.StringBuilder
.Length int
StringBuilder Append(Object)
StringBuilder Append(Object,int)
StringBuilder Append(Object,int,int)
StringBuilder AppendLine()
StringBuilder AppendLine(String)
StringBuilder AppendFormat(String,Object...)
StringBuilder Insert(int,Object)
StringBuilder Remove(int,int)
StringBuilder Replace(String,String)
StringBuilder Clear()
class System.Globalization.CultureInfo
.CurrentCulture CultureInfo
.InvariantCulture CultureInfo
.CurrentUICulture CultureInfo
.Name String
class System.Reflection.MemberInfo
.Name String
.DeclaringType Type
.ReflectedType Type
extension <T> T GetCustomAttribute()
extension <T> T GetCustomAttribute(bool)
extension <T> IEnumerable<T> GetCustomAttributes()
extension <T> IEnumerable<T> GetCustomAttributes(bool)
Object[] GetCustomAttributes(bool)
Object[] GetCustomAttributes(Type,bool)
bool IsDefined(Type,bool)
class System.Reflection.PropertyInfo : MemberInfo
.PropertyType Type
.CanRead bool
.CanWrite bool
.GetMethod MethodInfo
.SetMethod MethodInfo
Object GetValue(Object)
Object GetValue(Object,Object)
void SetValue(Object,Object)
MethodInfo GetGetMethod()
MethodInfo GetSetMethod()
ParameterInfo[] GetIndexParameters()
class System.Reflection.FieldInfo : MemberInfo
.FieldType Type
Object GetValue(Object)
void SetValue(Object,Object)
class System.Reflection.MethodBase : MemberInfo
.IsStatic bool
.IsPublic bool
ParameterInfo[] GetParameters()
Type[] GetGenericArguments()
Object Invoke(Object,Object[])
class System.Reflection.MethodInfo : MethodBase
.ReturnType Type
MethodInfo MakeGenericMethod(Type...)
MethodInfo GetBaseDefinition()
class System.Reflection.ConstructorInfo : MethodBase
Object Invoke(Object[])
class System.Reflection.ParameterInfo
.Name String
.ParameterType Type
.Position int
.HasDefaultValue bool
.DefaultValue Object
.Member MemberInfo
extension <T> T GetCustomAttribute()
extension <T> IEnumerable<T> GetCustomAttributes()
class System.Reflection.EventInfo : MemberInfo
.EventHandlerType Type
class System.Reflection.TypeInfo : Type
class System.Reflection.Assembly
.FullName String
.Location String
Type[] GetTypes()
Type[] GetExportedTypes()
IEnumerable<TypeInfo> DefinedTypes()
static Assembly GetExecutingAssembly()
static Assembly GetEntryAssembly()
static Assembly GetCallingAssembly()
Type GetType(String)
class System.Net.Http.HttpContent
class System.Net.Http.HttpResponseMessage
.Content HttpContent
class System.Net.Http.HttpRequestMessage
.Content HttpContent
.RequestUri Uri
class System.IO.Stream
class System.IO.MemoryStream : Stream
class System.IO.FileStream : Stream
class System.IO.TextWriter
class System.IO.StringWriter : TextWriter
class System.IO.StreamWriter : TextWriter
class System.IO.TextReader
String ReadLine()
String ReadToEnd()
class System.IO.StringReader : TextReader
class System.IO.StreamReader : TextReader
class System.IO.FileInfo
.Name String
.FullName String
.Directory DirectoryInfo
.Length long
class System.IO.DirectoryInfo
.Name String
.FullName String
FileInfo[] GetFiles()
class System.Threading.CancellationToken
.None CancellationToken
.IsCancellationRequested bool
class System.Threading.CancellationTokenSource
.Token CancellationToken
.IsCancellationRequested bool
class System.Threading.Tasks.Task
.CompletedTask Task
static Task Run(Action)
static Task Delay(int)
static <T> T FromResult(T)
static <T> T Run(Func1<T>)
static Task WhenAll(IEnumerable<Task>)
static <T> T[] WhenAll(IEnumerable<T>)
static <T> T[] WhenAll(T...)
Task ConfigureAwait(bool)
interface System.Collections.Generic.IEnumerator<T>
.Current T
bool MoveNext()
interface System.Linq.IGrouping<K,T> : IEnumerable<T>
.Key K
interface System.Collections.Generic.IEnumerable<T>
IEnumerator<T> GetEnumerator()
IEnumerable<T> Where(Func2<T,bool>)
<R> IEnumerable<R> Select(Func2<T,R>)
<R> IEnumerable<R> SelectMany(Func2<T,IEnumerable<R>>)
<R> IEnumerable<R> OfType()
<R> IEnumerable<R> Cast()
T First()
T First(Func2<T,bool>)
T FirstOrDefault()
T FirstOrDefault(Func2<T,bool>)
T Last()
T Last(Func2<T,bool>)
T LastOrDefault()
T LastOrDefault(Func2<T,bool>)
T Single()
T Single(Func2<T,bool>)
T SingleOrDefault()
T SingleOrDefault(Func2<T,bool>)
T ElementAt(int)
T Max()
T Min()
T Aggregate(Func3<T,T,T>)
bool Any()
bool Any(Func2<T,bool>)
bool All(Func2<T,bool>)
bool Contains(T)
int Count()
int Count(Func2<T,bool>)
<R> IEnumerable<T> OrderBy(Func2<T,R>)
<R> IEnumerable<T> OrderBy(Func2<T,R>,Object)
<R> IEnumerable<T> OrderByDescending(Func2<T,R>)
<R> IEnumerable<T> ThenBy(Func2<T,R>)
<R> IEnumerable<IGrouping<R,T>> GroupBy(Func2<T,R>)
<R> T MaxBy(Func2<T,R>)
<R> T MinBy(Func2<T,R>)
IEnumerable<T> Distinct()
IEnumerable<T> Reverse()
IEnumerable<T> Skip(int)
IEnumerable<T> Take(int)
IEnumerable<T> TakeWhile(Func2<T,bool>)
IEnumerable<T> SkipWhile(Func2<T,bool>)
IEnumerable<T> Concat(IEnumerable<T>)
IEnumerable<T> Union(IEnumerable<T>)
IEnumerable<T> Except(IEnumerable<T>)
IEnumerable<T> Append(T)
IEnumerable<T> AsEnumerable()
<R> int Sum(Func2<T,R>)
List<T> ToList()
T[] ToArray()
HashSet<T> ToHashSet()
<K> Dictionary<K,T> ToDictionary(Func2<T,K>)
<K,V> Dictionary<K,V> ToDictionary(Func2<T,K>,Func2<T,V>)
<K> ILookup<K,T> ToLookup(Func2<T,K>)
<K,V> ILookup<K,V> ToLookup(Func2<T,K>,Func2<T,V>)
<R> IEnumerable<R> Select(Func3<T,int,R>)
IEnumerable<T> Where(Func3<T,int,bool>)
<C,R> IEnumerable<R> SelectMany(Func2<T,IEnumerable<C>>,Func3<T,C,R>)
<A> A Aggregate(A,Func3<A,T,A>)
<A,R> R Aggregate(A,Func3<A,T,A>,Func2<A,R>)
<R> R Max(Func2<T,R>)
<R> R Min(Func2<T,R>)
<R> double Average(Func2<T,R>)
T ElementAtOrDefault(int)
T FirstOrDefault(T)
<R> IEnumerable<T> ThenByDescending(Func2<T,R>)
<R> IEnumerable<T> DistinctBy(Func2<T,R>)
<K,V> IEnumerable<IGrouping<K,V>> GroupBy(Func2<T,K>,Func2<T,V>)
<K> IEnumerable<IGrouping<K,T>> GroupBy(Func2<T,K>,Object)
<U> IEnumerable<ValueTuple2<T,U>> Zip(IEnumerable<U>)
<U,R> IEnumerable<R> Zip(IEnumerable<U>,Func3<T,U,R>)
<U,K,R> IEnumerable<R> Join(IEnumerable<U>,Func2<T,K>,Func2<U,K>,Func3<T,U,R>)
<U,K,R> IEnumerable<R> GroupJoin(IEnumerable<U>,Func2<T,K>,Func2<U,K>,Func3<T,IEnumerable<U>,R>)
IEnumerable<T> Intersect(IEnumerable<T>)
IEnumerable<T> Prepend(T)
IEnumerable<T> DefaultIfEmpty()
IEnumerable<T> DefaultIfEmpty(T)
IEnumerable<T> SkipLast(int)
IEnumerable<T> TakeLast(int)
IEnumerable<T> Distinct(Object)
IEnumerable<T> Order()
IEnumerable<T[]> Chunk(int)
bool SequenceEqual(IEnumerable<T>)
bool Contains(T,Object)
HashSet<T> ToHashSet(Object)
IQueryable<T> AsQueryable()
long LongCount()
class System.Linq.Enumerable
static <T> IEnumerable<T> Empty()
static <T> IEnumerable<T> Repeat(T,int)
static IEnumerable<int> Range(int,int)
interface System.Linq.ILookup<K,T> : IEnumerable<IGrouping<K,T>>
.this[] IEnumerable<T>
.Count int
bool Contains(K)
interface System.Linq.IOrderedEnumerable<T> : IEnumerable<T>
interface System.Linq.IQueryable<T> : IEnumerable<T>
interface System.Collections.Generic.IAsyncEnumerable<T> : IEnumerable<T>
interface System.Collections.Generic.IReadOnlyCollection<T> : IEnumerable<T>
.Count int
interface System.Collections.Generic.ICollection<T> : IEnumerable<T>
.Count int
void Add(T)
bool Remove(T)
void Clear()
interface System.Collections.Generic.IReadOnlyList<T> : IReadOnlyCollection<T>
.this[] T
interface System.Collections.Generic.IList<T> : ICollection<T>
.this[] T
int IndexOf(T)
void Insert(int,T)
void RemoveAt(int)
interface System.Collections.Generic.ISet<T> : ICollection<T>
class System.Collections.Generic.List<T> : IList<T>, IReadOnlyList<T>
void AddRange(IEnumerable<T>)
void ForEach(Action1<T>)
T Find(Predicate<T>)
T FindLast(Predicate<T>)
bool TrueForAll(Predicate<T>)
<R> List<R> ConvertAll(Func2<T,R>)
List<T> GetRange(int,int)
void InsertRange(int,IEnumerable<T>)
void RemoveRange(int,int)
IReadOnlyList<T> AsReadOnly()
int FindLastIndex(Predicate<T>)
void Reverse()
void CopyTo(T[])
List<T> FindAll(Predicate<T>)
bool Exists(Predicate<T>)
int FindIndex(Predicate<T>)
int RemoveAll(Predicate<T>)
void Sort()
void Sort(Comparison<T>)
class System.Collections.Generic.HashSet<T> : ISet<T>
void UnionWith(IEnumerable<T>)
void ExceptWith(IEnumerable<T>)
bool SetEquals(IEnumerable<T>)
int RemoveWhere(Predicate<T>)
class System.Collections.ObjectModel.Collection<T> : IList<T>
class System.Collections.ObjectModel.ObservableCollection<T> : Collection<T>
class System.Collections.ObjectModel.KeyedCollection<K,T> : Collection<T>
class System.Collections.ObjectModel.ReadOnlyCollection<T> : IList<T>, IReadOnlyList<T>
class System.Collections.Immutable.ImmutableArray<T> : IReadOnlyList<T>
.Length int
class System.Collections.Immutable.ImmutableList<T> : IReadOnlyList<T>
class System.Collections.Immutable.ImmutableDictionary<K,V> : IReadOnlyDictionary<K,V>
class System.Collections.Generic.SortedSet<T> : ISet<T>
class System.Collections.Generic.LinkedListNode<T>
.Value T
.Next LinkedListNode<T>
.Previous LinkedListNode<T>
class System.Collections.Generic.LinkedList<T> : ICollection<T>
.First LinkedListNode<T>
.Last LinkedListNode<T>
LinkedListNode<T> AddFirst(T)
LinkedListNode<T> AddLast(T)
class System.Collections.Generic.Queue<T> : IEnumerable<T>
.Count int
void Enqueue(T)
T Dequeue()
T Peek()
bool TryDequeue(T)
bool TryPeek(T)
class System.Collections.Generic.Stack<T> : IEnumerable<T>
.Count int
void Push(T)
T Pop()
T Peek()
class System.Collections.Generic.KeyValuePair<K,V>
.Key K
.Value V
interface System.Collections.Generic.IReadOnlyDictionary<K,V> : IEnumerable<KeyValuePair<K,V>>
.this[] V
.Keys IEnumerable<K>
.Values IEnumerable<V>
bool ContainsKey(K)
bool TryGetValue(K,V)
interface System.Collections.Generic.IDictionary<K,V> : ICollection<KeyValuePair<K,V>>
.this[] V
.Keys ICollection<K>
.Values ICollection<V>
bool ContainsKey(K)
bool TryGetValue(K,V)
void Add(K,V)
bool Remove(K)
class System.Collections.Generic.Dictionary<K,V> : IDictionary<K,V>, IReadOnlyDictionary<K,V>
V GetValueOrDefault(K)
class System.Collections.Generic.SortedDictionary<K,V> : IDictionary<K,V>
class System.Collections.Concurrent.ConcurrentDictionary<K,V> : IDictionary<K,V>
V GetOrAdd(K,Func2<K,V>)
V GetOrAdd(K,V)
<A> V GetOrAdd(K,Func3<K,A,V>,A)
bool TryAdd(K,V)
bool TryRemove(K,V)
V AddOrUpdate(K,V,Func3<K,V,V>)
class System.Collections.Concurrent.ConcurrentQueue<T> : IEnumerable<T>
class System.Collections.Concurrent.ConcurrentBag<T> : IEnumerable<T>
`
