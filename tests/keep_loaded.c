/* Linked into sanitized programs that draw: libraries stay loaded until the end.
 *
 * llvmpipe keeps what it made during a draw call in its own variables. Unloaded, that would
 * look like a leak, in a module without a name that no suppression can tell from others. */
int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
