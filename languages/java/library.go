package java

// library has classes of java.lang, java.util and what streams need, in the format of
// typed.Language.Library. Of other classes only the names matter.
const library = `
class java.lang.Object
boolean equals(Object)
int hashCode()
String toString()
Class<Object> getClass()
void notify()
void notifyAll()
void wait()
void wait(long)
Object clone()
void finalize()
interface java.lang.Comparable<T>
abstract int compareTo(T)
interface java.lang.CharSequence
int length()
char charAt(int)
CharSequence subSequence(int,int)
interface java.lang.Runnable
abstract void run()
interface java.lang.Iterable<T>
abstract Iterator<T> iterator()
void forEach(Consumer<T>)
interface java.lang.AutoCloseable
interface java.lang.Cloneable
class java.lang.Enum<E> : Comparable<E>
String name()
int ordinal()
int compareTo(E)
Class<E> getDeclaringClass()
static E[] values()
static E valueOf(String)
class java.lang.Record
class java.lang.Class<T>
T cast(Object)
String getName()
String getSimpleName()
boolean isInstance(Object)
Class<T> getComponentType()
Class<T> getSuperclass()
T[] getEnumConstants()
class java.lang.String : CharSequence, Comparable<String>
int length()
char charAt(int)
boolean isEmpty()
boolean isBlank()
String substring(int)
String substring(int,int)
String trim()
String strip()
String toLowerCase()
String toLowerCase(Locale)
String toUpperCase()
String toUpperCase(Locale)
String replace(char,char)
String replace(CharSequence,CharSequence)
String replaceAll(String,String)
String concat(String)
String repeat(int)
String intern()
String[] split(String)
String[] split(String,int)
char[] toCharArray()
boolean startsWith(String)
boolean endsWith(String)
boolean contains(CharSequence)
int indexOf(String)
int indexOf(int)
int lastIndexOf(int)
int compareTo(String)
static String valueOf(Object)
static String format(String,Object...)
static String join(CharSequence,Object...)
String formatted(Object...)
class java.lang.StringBuilder : CharSequence
StringBuilder append(Object)
StringBuilder insert(int,Object)
StringBuilder reverse()
StringBuilder delete(int,int)
StringBuilder deleteCharAt(int)
void setLength(int)
class java.lang.StringBuffer : CharSequence
StringBuffer append(Object)
class java.lang.Number
int intValue()
long longValue()
double doubleValue()
float floatValue()
class java.lang.Integer : Number, Comparable<Integer>
static int parseInt(String)
static Integer valueOf(Object)
class java.lang.Long : Number, Comparable<Long>
static long parseLong(String)
static Long valueOf(Object)
class java.lang.Double : Number, Comparable<Double>
static double parseDouble(String)
class java.lang.Float : Number, Comparable<Float>
class java.lang.Short : Number, Comparable<Short>
class java.lang.Byte : Number, Comparable<Byte>
class java.lang.Boolean : Comparable<Boolean>
class java.lang.Character : Comparable<Character>
class java.lang.Void
class java.lang.Throwable
String getMessage()
Throwable getCause()
Throwable initCause(Throwable)
class java.lang.Exception : Throwable
class java.lang.Error : Throwable
class java.lang.AssertionError : Error
class java.lang.RuntimeException : Exception
class java.lang.IllegalArgumentException : RuntimeException
class java.lang.NumberFormatException : IllegalArgumentException
class java.lang.IllegalStateException : RuntimeException
class java.lang.UnsupportedOperationException : RuntimeException
class java.lang.IndexOutOfBoundsException : RuntimeException
class java.lang.NullPointerException : RuntimeException
class java.lang.ClassCastException : RuntimeException
class java.lang.InterruptedException : Exception
class java.io.IOException : Exception
class java.io.EOFException : IOException
class java.lang.ThreadLocal<T>
T get()
void set(T)
void remove()
static <S> ThreadLocal<S> withInitial(Supplier<S>)
interface java.util.Iterator<E>
boolean hasNext()
E next()
void remove()
interface java.util.ListIterator<E> : Iterator<E>
interface java.util.Collection<E> : Iterable<E>
int size()
boolean isEmpty()
boolean contains(Object)
boolean add(E)
boolean remove(Object)
boolean addAll(Collection<E>)
boolean removeAll(Collection<E>)
boolean removeIf(Predicate<E>)
void clear()
Stream<E> stream()
Stream<E> parallelStream()
Object[] toArray()
<T> T[] toArray(T[])
interface java.util.List<E> : Collection<E>
E get(int)
E set(int,E)
void add(int,E)
E remove(int)
E getFirst()
E getLast()
int indexOf(Object)
List<E> subList(int,int)
ListIterator<E> listIterator()
void sort(Comparator<E>)
void replaceAll(UnaryOperator<E>)
static <T> List<T> of(T...)
static <T> List<T> copyOf(Collection<T>)
interface java.util.Set<E> : Collection<E>
static <T> Set<T> of(T...)
static <T> Set<T> copyOf(Collection<T>)
interface java.util.SortedSet<E> : Set<E>
E first()
E last()
interface java.util.Queue<E> : Collection<E>
boolean offer(E)
E poll()
E peek()
E element()
E remove()
interface java.util.Deque<E> : Queue<E>
void addFirst(E)
void addLast(E)
E getFirst()
E getLast()
E peekFirst()
E peekLast()
E pollFirst()
E pollLast()
E removeFirst()
E removeLast()
void push(E)
E pop()
Iterator<E> descendingIterator()
class java.util.AbstractCollection<E> : Collection<E>
class java.util.AbstractList<E> : AbstractCollection<E>, List<E>
class java.util.AbstractSet<E> : AbstractCollection<E>, Set<E>
class java.util.ArrayList<E> : AbstractList<E>, List<E>
class java.util.LinkedList<E> : AbstractList<E>, Deque<E>
class java.util.Vector<E> : AbstractList<E>
class java.util.Stack<E> : Vector<E>
E push(E)
E pop()
E peek()
class java.util.HashSet<E> : AbstractSet<E>
class java.util.LinkedHashSet<E> : HashSet<E>
class java.util.TreeSet<E> : AbstractSet<E>, SortedSet<E>
class java.util.EnumSet<E> : AbstractSet<E>
class java.util.ArrayDeque<E> : AbstractCollection<E>, Deque<E>
class java.util.PriorityQueue<E> : AbstractCollection<E>, Queue<E>
class java.util.concurrent.ConcurrentLinkedQueue<E> : AbstractCollection<E>, Queue<E>
class java.util.concurrent.CopyOnWriteArrayList<E> : List<E>
interface java.util.concurrent.BlockingQueue<E> : Queue<E>
E take()
void put(E)
class java.util.concurrent.LinkedBlockingQueue<E> : AbstractCollection<E>, BlockingQueue<E>
class java.util.concurrent.ArrayBlockingQueue<E> : AbstractCollection<E>, BlockingQueue<E>
interface java.util.Map<K,V>
int size()
boolean isEmpty()
V get(Object)
V put(K,V)
V remove(Object)
V getOrDefault(Object,V)
V putIfAbsent(K,V)
boolean containsKey(Object)
boolean containsValue(Object)
void putAll(Map<K,V>)
void clear()
Set<K> keySet()
Collection<V> values()
Set<Map.Entry<K,V>> entrySet()
V computeIfAbsent(K,Function<K,V>)
V computeIfPresent(K,BiFunction<K,V,V>)
V compute(K,BiFunction<K,V,V>)
V merge(K,V,BiFunction<V,V,V>)
V replace(K,V)
void replaceAll(BiFunction<K,V,V>)
void forEach(BiConsumer<K,V>)
static <A,B> Map<A,B> of()
static <A,B> Map<A,B> of(A,B)
static <A,B> Map<A,B> of(A,B,A,B)
static <A,B> Map<A,B> copyOf(Map<A,B>)
static <A,B> Map.Entry<A,B> entry(A,B)
interface java.util.Map.Entry<K,V>
K getKey()
V getValue()
V setValue(V)
interface java.util.SortedMap<K,V> : Map<K,V>
K firstKey()
K lastKey()
interface java.util.NavigableMap<K,V> : SortedMap<K,V>
Map.Entry<K,V> firstEntry()
Map.Entry<K,V> lastEntry()
Map.Entry<K,V> floorEntry(K)
Map.Entry<K,V> ceilingEntry(K)
class java.util.AbstractMap<K,V> : Map<K,V>
class java.util.HashMap<K,V> : AbstractMap<K,V>
class java.util.LinkedHashMap<K,V> : HashMap<K,V>
class java.util.TreeMap<K,V> : AbstractMap<K,V>, NavigableMap<K,V>
class java.util.EnumMap<K,V> : AbstractMap<K,V>
class java.util.IdentityHashMap<K,V> : AbstractMap<K,V>
class java.util.WeakHashMap<K,V> : AbstractMap<K,V>
interface java.util.concurrent.ConcurrentMap<K,V> : Map<K,V>
class java.util.concurrent.ConcurrentHashMap<K,V> : AbstractMap<K,V>, ConcurrentMap<K,V>
class java.util.Collections
static <T> List<T> emptyList()
static <T> Set<T> emptySet()
static <A,B> Map<A,B> emptyMap()
static <T> List<T> singletonList(T)
static <T> Set<T> singleton(T)
static <T> List<T> unmodifiableList(List<T>)
static <T> Set<T> unmodifiableSet(Set<T>)
static <T> Collection<T> unmodifiableCollection(Collection<T>)
static <A,B> Map<A,B> unmodifiableMap(Map<A,B>)
static <T> List<T> synchronizedList(List<T>)
static <T> void sort(List<T>)
static <T> void sort(List<T>,Comparator<T>)
static <T> T max(Collection<T>)
static <T> T min(Collection<T>)
class java.util.Arrays
static <T> List<T> asList(T...)
static <T> Stream<T> stream(T[])
static <T> T[] copyOf(T[],int)
class java.util.Objects
static <T> T requireNonNull(T)
static <T> T requireNonNull(T,String)
static <T> T requireNonNullElse(T,T)
static boolean equals(Object,Object)
static int hash(Object...)
static int hashCode(Object)
static String toString(Object)
class java.util.Optional<T>
T get()
T orElse(T)
T orElseGet(Supplier<T>)
T orElseThrow()
<X> T orElseThrow(Supplier<X>)
boolean isPresent()
boolean isEmpty()
void ifPresent(Consumer<T>)
void ifPresentOrElse(Consumer<T>,Runnable)
<R> Optional<R> map(Function<T,R>)
<R> Optional<R> flatMap(Function<T,Optional<R>>)
Optional<T> filter(Predicate<T>)
Optional<T> or(Supplier<Optional<T>>)
Stream<T> stream()
static <A> Optional<A> of(A)
static <A> Optional<A> ofNullable(A)
static <A> Optional<A> empty()
interface java.util.stream.Stream<T>
Stream<T> filter(Predicate<T>)
<R> Stream<R> map(Function<T,R>)
<R> Stream<R> flatMap(Function<T,Stream<R>>)
Stream<T> distinct()
Stream<T> sorted()
Stream<T> sorted(Comparator<T>)
Stream<T> peek(Consumer<T>)
Stream<T> limit(long)
Stream<T> skip(long)
Stream<T> takeWhile(Predicate<T>)
Stream<T> dropWhile(Predicate<T>)
Stream<T> parallel()
Stream<T> sequential()
Stream<T> onClose(Runnable)
void forEach(Consumer<T>)
void forEachOrdered(Consumer<T>)
boolean anyMatch(Predicate<T>)
boolean allMatch(Predicate<T>)
boolean noneMatch(Predicate<T>)
Optional<T> findFirst()
Optional<T> findAny()
Optional<T> min(Comparator<T>)
Optional<T> max(Comparator<T>)
T reduce(T,BinaryOperator<T>)
Optional<T> reduce(BinaryOperator<T>)
List<T> toList()
Iterator<T> iterator()
long count()
<R> IntStream mapToInt(Function<T,R>)
<R> R collect(Collector<T,R>)
static <A> Stream<A> of(A...)
static <A> Stream<A> empty()
static <A> Stream<A> concat(Stream<A>,Stream<A>)
interface java.util.stream.IntStream
interface java.util.stream.Collector<T,R>
class java.util.stream.Collectors
static <A> Collector<A,List<A>> toList()
static <A> Collector<A,Set<A>> toSet()
static Collector<Object,String> joining()
static Collector<Object,String> joining(CharSequence)
static Collector<Object,String> joining(CharSequence,CharSequence,CharSequence)
interface java.util.Comparator<T>
abstract int compare(T,T)
Comparator<T> reversed()
Comparator<T> thenComparing(Comparator<T>)
static <A,B> Comparator<A> comparing(Function<A,B>)
interface java.util.concurrent.Callable<V>
abstract V call()
interface java.util.concurrent.Future<V>
V get()
V get(long,TimeUnit)
class java.util.concurrent.TimeUnit
class java.util.concurrent.CompletableFuture<T> : Future<T>
T join()
<R> CompletableFuture<R> thenApply(Function<T,R>)
<R> CompletableFuture<R> thenCompose(Function<T,CompletableFuture<R>>)
CompletableFuture<Void> thenAccept(Consumer<T>)
static <A> CompletableFuture<A> supplyAsync(Supplier<A>)
static <A> CompletableFuture<A> completedFuture(A)
class java.util.concurrent.atomic.AtomicReference<V>
V get()
void set(V)
V getAndSet(V)
class java.lang.ref.WeakReference<T>
T get()
class java.lang.ref.SoftReference<T>
T get()
class java.util.Locale
interface java.util.function.Function<T,R>
abstract R apply(T)
interface java.util.function.BiFunction<T,U,R>
abstract R apply(T,U)
interface java.util.function.UnaryOperator<T> : Function<T,T>
interface java.util.function.BinaryOperator<T> : BiFunction<T,T,T>
interface java.util.function.Supplier<T>
abstract T get()
interface java.util.function.Consumer<T>
abstract void accept(T)
interface java.util.function.BiConsumer<T,U>
abstract void accept(T,U)
interface java.util.function.Predicate<T>
abstract boolean test(T)
interface java.util.function.BiPredicate<T,U>
abstract boolean test(T,U)
interface java.util.function.IntFunction<R>
abstract R apply(int)
interface java.util.function.ToIntFunction<T>
abstract int applyAsInt(T)
interface java.util.function.ToLongFunction<T>
abstract long applyAsLong(T)
interface java.util.function.ToDoubleFunction<T>
abstract double applyAsDouble(T)
`
