/* Linked with one whole layer and what that layer may use: nothing else may be missing. */
int main(void)
{
    return 0;
}
